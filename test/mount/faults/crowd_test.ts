/** Many concurrent readers, killed readers, and repeated mounting and unmounting. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { withMountPlace } from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import { ffrBytes, ffrHeader } from "../../support/ffrecord/make_ffr.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  COUNT,
  record,
  SIZE,
  sleep,
  test,
  THOROUGH,
} from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

/** Timeout for killed processes to end, in milliseconds. */
const PATIENCE = 180_000;

test("64 readers at once compare every byte", async (place) => {
  const { pid } = await record(place);
  const least = 50;
  const readers = startReaders(place.mountpoint, 64, COUNT, SIZE, least);
  if (THOROUGH) await sleep(30_000);
  for (const { read, wrong } of await readers.stop()) {
    assert.deepEqual(wrong, []);
    assert.ok(read >= least);
  }
  const after = await record(place);
  assert.deepEqual([after.pid, after.supervised.restarts], [pid, 0]);
});

/** Starts a program that reads a file through the kernel's cache, or with O_DIRECT. */
function startReading(path: string, direct: boolean): Deno.ChildProcess {
  const flags = direct ? ["iflag=direct"] : [];
  return new Deno.Command("dd", {
    args: [`if=${path}`, "of=/dev/null", "bs=1M", ...flags],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** Kills processes, some of which may have ended already. */
function kill(children: readonly Deno.ChildProcess[]): void {
  for (const { pid } of children) send(pid, "SIGKILL");
}

/** Waits until all processes have ended. */
async function expectEnd(
  children: readonly Deno.ChildProcess[],
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error("killed readers do not end")),
    PATIENCE,
  );
  try {
    await Promise.race([promise, Promise.all(children.map((c) => c.status))]);
  } finally {
    clearTimeout(timer);
  }
}

test("readers are killed while the server is stopped, and the others continue", async (place) => {
  const { pid } = await record(place);
  const { mountpoint } = place;
  const others = startReaders(mountpoint, 2, COUNT, SIZE);
  for (let round = 0; round < (THOROUGH ? 50 : 3); round++) {
    Deno.kill(pid, "SIGSTOP");
    const killed = [0, 1, 2, 3, 4, 5].map((i) =>
      startReading(`${mountpoint}/00000${i}`, i % 2 === 0)
    );
    await sleep(100);
    kill(killed);
    await sleep(100);
    Deno.kill(pid, "SIGCONT");
    // Killed readers end now at the latest: a process whose request a server has read waits for the reply.
    await expectEnd(killed);
    await sleep(100);
  }
  for (const { read, wrong } of await others.stop()) {
    assert.deepEqual(wrong, []);
    assert.ok(read > 0);
  }
  assert.equal((await record(place)).supervised.restarts, 0);
});

/** Writes a container of 256 MB samples that are holes in the file: their checksums take long to compute. */
function writeHoles(path: string, samples: number): void {
  const size = 1 << 28;
  const zeros = new Uint8Array(1 << 24);
  let crc = 0;
  for (let done = 0; done < size; done += zeros.length) crc = crc32(zeros, crc);
  const header = ffrHeader(
    Array<number>(samples).fill(size),
    Array<number>(samples).fill(crc),
  );
  fs.writeFileSync(path, header);
  fs.truncateSync(path, header.length + samples * size);
}

Deno.test({
  name:
    "readers are killed while they wait for a response, and the server continues",
  ...needs("fuse", "python3"),
  fn: () =>
    withMountPlace(async (place) => {
      const { dir, mountpoint } = place;
      const rounds = THOROUGH ? 300 : 5;
      const most = 20 * rounds; // on a busy machine, some readers are killed before they send a request
      writeHoles(`${dir}/holes.ffr`, most);
      const mounted = await place.recordfs(
        ...["mount", "--trace", `${dir}/holes.ffr`, mountpoint],
      );
      assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
      const { log, pid } = await record(place);
      let traced = "";
      const wasInterrupted = () => traced.includes(": INTERRUPT unique=");
      for (let i = 0; i < rounds || i < most && !wasInterrupted(); i++) {
        const path = `${mountpoint}/${`${i}`.padStart(6, "0")}`;
        const readers = [true, false, true].map((direct) =>
          startReading(path, direct)
        );
        await sleep(5 + 40 * Math.random());
        kill(readers);
        await expectEnd(readers);
        const head = await run(["head", "-c", "5000", path]);
        assert.ok(head.bytes.length === 5000 && head.bytes.every((b) => !b));
        traced = await Deno.readTextFile(log);
      }
      const { supervised, pid: now } = await record(place);
      assert.deepEqual([now, supervised.restarts], [pid, 0]);
      assert.ok(wasInterrupted());
      assert.ok(!traced.includes("-> EIO"));
      assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    }),
});

Deno.test({
  name: "a process that mounts and unmounts repeatedly leaks nothing",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir, mountpoint }) => {
      await Deno.writeFile(`${dir}/a.ffr`, ffrBytes([new Uint8Array(9)]));
      const script = new URL("mount_again_and_again.ts", import.meta.url);
      const times = THOROUGH ? 1000 : 20;
      const { stdout, stderr, code } = await run([
        ...[Deno.execPath(), "run", "-A", fromFileUrl(script)],
        ...[`${dir}/a.ffr`, mountpoint, `${times}`],
      ]);
      assert.equal(code, 0, stderr);
      const [before, after] = JSON.parse(stdout);
      assert.deepEqual([after.mounts, after.maps], [0, 0]);
      // Deno keeps some descriptors open, and their number varies, but it must not grow with each mount.
      assert.ok(after.descriptors < before.descriptors + 10, stdout);
      assert.ok(after.threads < before.threads + 10, stdout);
      assert.ok(after.kilobytes < before.kilobytes + 100_000, stdout);
    }),
});
