/** The disk with a mount's record and log is full. */
import assert from "node:assert/strict";
import {
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "../../cli/mount/mount_place.ts";
import { recordfs } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { needs } from "../../support/programs/programs.ts";
import { withTmpfs } from "../../support/programs/tmpfs.ts";
import { COUNT, record, SIZE, writeNumbers } from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

Deno.test({
  name: "a full disk for record and log does not affect the mount",
  ...needs("fuse", "root"),
  fn: () =>
    withStateOn("256k", async (place, disk) => {
      const { env } = place;
      const source = `${place.dir}/data.ffr`;
      await Deno.writeFile(
        source,
        ffrBytes([new Uint8Array(300_000).fill(7)]),
      );
      const { code } = await recordfs(
        ["mount", "--trace", source, place.mountpoint],
        { env },
      );
      assert.equal(code, 0);
      await until(async () => (await record(place)).supervised.resumable);
      await fill(`${disk}/rest`);
      const { pid } = await record(place);
      Deno.kill(pid, "SIGKILL");
      const bytes = await Deno.readFile(`${place.mountpoint}/000000`);
      assert.ok(bytes.length === 300_000 && bytes.every((one) => one === 7));
      await until(async () => (await record(place)).pid !== pid);
      assert.equal((await record(place)).supervised.restarts, 1);
      const unmount = ["unmount", place.mountpoint];
      assert.equal((await recordfs(unmount, { env })).code, 0);
    }),
});

Deno.test({
  name: "a log that has filled its disk is restarted, and the mount continues",
  ...needs("fuse", "root", "python3"),
  fn: () =>
    withStateOn("1400k", async (place) => {
      const { dir, mountpoint, env } = place;
      const source = `${dir}/numbers.ffr`;
      await writeNumbers(source);
      const mount = ["mount", "--trace", source, mountpoint];
      assert.equal((await recordfs(mount, { env })).code, 0);
      const { pid, log } = await record(place);
      // Filling the log line by line takes too long.
      const padding = new Uint8Array(950_000).fill(10);
      await Deno.writeFile(log, padding, { append: true });
      const readers = startReaders(mountpoint, 4, COUNT, SIZE);
      const sizeOf = async () => (await Deno.stat(log)).size;
      await until(async () => await sizeOf() > 1_000_000);
      await until(async () => await sizeOf() < 500_000);
      for (const { read, wrong } of await readers.stop()) {
        assert.deepEqual(wrong, []);
        assert.ok(read > 0);
      }
      // The disk had no room to keep the earlier part.
      await assert.rejects(Deno.stat(`${log}.1`), Deno.errors.NotFound);
      assert.ok(await isRunning(pid));
      assert.equal((await recordfs(["unmount", mountpoint], { env })).code, 0);
    }),
});

/** Runs `body` with a mount point whose state directory is on a disk of limited size. */
function withStateOn(
  size: string,
  body: (place: MountPlace, disk: string) => Promise<void>,
): Promise<void> {
  return withTmpfs(
    size,
    (disk) => withMountPlace((place) => body(place, disk), disk),
  );
}

/** Fills a disk. */
async function fill(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  await assert.rejects(async () => {
    while (true) await file.write(new Uint8Array(1 << 12));
  }, /No space left/);
}
