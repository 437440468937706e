import assert from "node:assert/strict";
import * as fs from "node:fs";
import { libcReads, UNSUPPORTED } from "../../../src/io/libc/libc_reads.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const linux = { ignore: Deno.build.os !== "linux" };

Deno.test(
  "reads of any length, at any offset, end where the file ends",
  linux,
  async () => {
    await withTempDir((dir) => {
      const bytes = new Uint8Array(20_000).map((_, i) => i * 7 + (i >> 8));
      fs.writeFileSync(`${dir}/a`, bytes);
      const libc = libcReads()!;
      const fd = fs.openSync(`${dir}/a`, "r");
      assert.equal(libc.sizeOf(fd), 20_000);
      for (const length of [0, 1, 63, 64, 65, 1000, 19_999, 20_000, 30_000]) {
        for (const offset of [0, 1, 10_000, 19_999, 20_000, 2 ** 33]) {
          const expected = bytes.slice(offset, offset + length);
          const [a, b] = [new Uint8Array(length), new Uint8Array(length)];
          assert.equal(libc.read(fd, a, offset), expected.length);
          assert.deepEqual(a.subarray(0, expected.length), expected);
          const got = libc.cached(fd, b, offset);
          if (got === UNSUPPORTED) continue;
          assert.equal(got, expected.length); // cached, since it has just been written and read
          assert.deepEqual(b.subarray(0, expected.length), expected);
        }
      }
      fs.closeSync(fd);
      assert.ok(libc.read(-1, new Uint8Array(1), 0) < 0); // another file may have reused `fd`
    });
  },
);

/** Returns how many bytes of a file are in the page cache. */
async function inMemory(path: string): Promise<number> {
  const { stdout } = await new Deno.Command("fincore", {
    args: ["--bytes", "--noheadings", "--output", "RES", path],
  }).output();
  return Number(new TextDecoder().decode(stdout));
}

Deno.test(
  "data that is not cached is skipped, unless it arrives immediately",
  needs("fincore"),
  async () => {
    await withTempDir(async (dir) => {
      const path = `${dir}/a`;
      fs.writeFileSync(path, new Uint8Array(1_000_000).fill(7));
      await new Deno.Command("dd", {
        args: [
          `of=${path}`,
          "oflag=nocache",
          "conv=notrunc,fdatasync",
          "count=0",
        ],
        stderr: "null",
      }).output();
      const libc = libcReads()!;
      const fd = fs.openSync(path, "r");
      const into = new Uint8Array(100_000);
      assert.ok(await inMemory(path) < 1_000_000);
      // The kernel starts read-ahead and returns what has arrived by then, often nothing.
      const got = libc.cached(fd, into, 500_000);
      assert.ok(got === UNSUPPORTED || got >= 0 && got <= into.length);
      for (let i = 0; i < got; i++) assert.equal(into[i], 7);
      assert.equal(libc.read(fd, into, 500_000), 100_000);
      const now = libc.cached(fd, into.fill(0), 500_000);
      if (now !== UNSUPPORTED) {
        assert.equal(now, 100_000);
        assert.ok(into.every((byte) => byte === 7));
      }
      fs.closeSync(fd);
    });
  },
);
