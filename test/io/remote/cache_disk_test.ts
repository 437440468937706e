/** If the disk of the cache is full, read-only or removed, reads become slower but stay correct. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import type { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { withTmpfs } from "../../support/programs/tmpfs.ts";
import { FileServer } from "../../support/remote/file_server.ts";

const SAMPLES = Array.from(
  { length: 60 },
  (_, i) => new Uint8Array(100_000).map((_, k) => (k * 13 + i * 5) >> 2),
);
const NAMES = SAMPLES.map((_, i) => String(i).padStart(6, "0"));

interface Place {
  readonly server: FileServer;
  readonly warnings: string[];
  /**
   * Opens the container with a cache in `directory`. Its size limit may exceed the disk; free space limits it too.
   */
  open(directory: string, size?: number, query?: string): Promise<VirtualFs>;
}

async function withServer(use: (place: Place) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(dir);
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    await use({
      server,
      warnings,
      open(directory, size = 1e9, query = "") {
        const cache = { directory, ...size > 0 && { size } };
        const url = `${server.url}/a.ffr?${query}`;
        return open(url, { remote: { cache, onWarning } });
      },
    });
  });
}

async function assertAll(container: VirtualFs): Promise<void> {
  for (const [i, name] of NAMES.entries()) {
    assert.deepEqual(await container.read(name), SAMPLES[i]);
  }
}

/** Writes until the disk is full. */
function fill(path: string): void {
  const fd = fs.openSync(path, "w");
  try {
    assert.throws(() => {
      for (;;) fs.writeSync(fd, new Uint8Array(1 << 16));
    }, { code: "ENOSPC" });
  } finally {
    fs.closeSync(fd);
  }
}

Deno.test({
  name: "a disk that others fill while the cache is in use is handled",
  ...needs("root"),
  fn: () =>
    withTmpfs(
      "80m",
      (disk) =>
        withServer(async ({ server, warnings, open }) => {
          const cache = `${disk}/cache`;
          {
            using container = await open(cache);
            assert.deepEqual(await container.read(NAMES[20]!), SAMPLES[20]);
            fill(`${disk}/junk`);
            await assertAll(container);
            await assertAll(container);
          }
          assert.equal(warnings.length, 1, warnings.join("\n"));
          assert.match(
            warnings[0]!,
            /^Cannot use the cache .*: .*No space left/,
          );
          // The next container finds the cached blocks, and has room.
          fs.rmSync(`${disk}/junk`);
          for (const isFirst of [true, false]) {
            server.asked.length = 0;
            using container = await open(cache);
            await assertAll(container);
            assert.equal(server.asked.length > 1, isFirst);
          }
          assert.equal(warnings.length, 1);
        }),
    ),
});

Deno.test({
  name: "a disk that is full from the start is handled",
  ...needs("root"),
  fn: () =>
    withTmpfs("2m", (disk) =>
      withServer(async ({ warnings, open }) => {
        fill(`${disk}/junk`);
        using container = await open(`${disk}/cache`);
        await assertAll(container);
        await assertAll(container);
        assert.equal(warnings.length, 1, warnings.join("\n"));
        assert.match(warnings[0]!, /^Cannot use the cache /);
      })),
});

Deno.test({
  name: "a disk with little space is handled",
  ...needs("root"),
  fn: () =>
    withTmpfs("30m", (disk) =>
      // The cache leaves at least this much space to other programs.
      withServer(async ({ warnings, open }) => {
        using container = await open(`${disk}/cache`, 0);
        await assertAll(container);
        await assertAll(container);
        assert.equal(warnings.length, 1, warnings.join("\n"));
        assert.match(
          warnings[0]!,
          /^Cannot use the cache .*its disk has no room left/,
        );
      })),
});

Deno.test({
  name:
    "by default a cache takes a fifth of the space that is free without it, however often it is opened",
  ...needs("root"),
  fn: () =>
    withTmpfs("130m", (disk) =>
      withServer(async ({ warnings, open }) => {
        const { bavail, bsize } = fs.statfsSync(disk);
        for (let i = 0; i < 8; i++) {
          using container = await open(`${disk}/cache`, 0, `id=${i}`);
          await container.read(NAMES);
        }
        const used = (bavail - fs.statfsSync(disk).bavail) * bsize;
        assert.ok(used > 6_000_000 && used < bavail * bsize / 5, `${used}`);
        assert.deepEqual(warnings, []);
      })),
});

Deno.test({
  name: "a read-only disk is handled",
  ...needs("root"),
  fn: () =>
    withTmpfs(
      "90m",
      (disk, remount) =>
        withServer(async ({ server, warnings, open }) => {
          {
            using container = await open(`${disk}/cache`);
            await assertAll(container);
          }
          assert.deepEqual(warnings, []);
          await remount("ro");
          for (const cache of [`${disk}/cache`, `${disk}/other`]) {
            server.asked.length = 0;
            warnings.length = 0;
            using container = await open(cache);
            await assertAll(container);
            assert.equal(warnings.length, 1, warnings.join("\n"));
            assert.match(warnings[0]!, /^Cannot use the cache .*: .*EROFS/);
            assert.ok(server.asked.length > 1);
          }
        }),
    ),
});

Deno.test("a cache that is deleted while in use is handled", async () => {
  await withServer(async ({ server, warnings, open }) => {
    await withTempDir(async (dir) => {
      const cache = `${dir}/cache`;
      {
        using container = await open(cache);
        assert.deepEqual(await container.read(NAMES[20]!), SAMPLES[20]);
        fs.rmSync(cache, { recursive: true });
        await assertAll(container);
        // Another container starts a new cache in parallel.
        using other = await open(cache);
        await assertAll(other);
        await assertAll(container);
      }
      server.asked.length = 0;
      using container = await open(cache);
      await assertAll(container);
      assert.equal(server.asked.length, 1);
      assert.ok(warnings.length <= 1, warnings.join("\n"));
    });
  });
});
