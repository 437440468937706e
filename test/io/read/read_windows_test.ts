import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import fc from "fast-check";
import { ReadWindows } from "../../../src/io/read/read_windows.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { FileSource } from "../../../src/io/storage/file_source.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";

const WINDOW = 1 << 20;

const contents = [3 * WINDOW + 5, 10, WINDOW].map((length, k) =>
  new Uint8Array(length).map((_, i) => (i >> 8) * 31 + i + k)
);
const storage = new MemoryStorage(
  Object.fromEntries(contents.map((bytes, k) => [`s${k}`, bytes])),
);
const sources: ByteSource[] = contents.map((_, k) =>
  runSync(storage.open(`s${k}`))
);

/** Reads a range through windows of any size. */
async function range(
  windows: ReadWindows,
  source: ByteSource,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const all = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const bytes = windows.peek(source, offset + done, length - done);
    if (bytes.length === 0) {
      await windows.move(source, offset + done);
      continue;
    }
    all.set(bytes, done);
    done += bytes.length;
  }
  return all;
}

Deno.test("ranges in any order equal those of their sources", async () => {
  const ranges = fc.tuple(fc.nat(2), fc.nat(), fc.nat()).map(([k, a, b]) => {
    const { length } = contents[k]!;
    const offset = a % length;
    return { k, offset, length: b % (length - offset + 1) };
  });
  const property = fc.asyncProperty(
    fc.array(ranges, { maxLength: 12 }),
    async (list) => {
      const windows = new ReadWindows(undefined);
      for (const { k, offset, length } of list) {
        const bytes = await range(windows, sources[k]!, offset, length);
        const expected = contents[k]!.subarray(offset, offset + length);
        assert.ok(bytes.every((byte, i) => byte === expected[i]));
      }
      await windows.end();
    },
  );
  await fc.assert(property, { numRuns: FULL ? 25 : 10, seed: 1 });
});

/** Makes a file of the first content, with nothing of it in the page cache. */
async function withCold(use: (cold: FileSource) => Promise<void>) {
  await withTempDir(async (dir) => {
    const path = `${dir}/file`;
    fs.writeFileSync(path, contents[0]!);
    const file = runSync(FileSource.open(path));
    await use(Object.assign(file, { readCached: () => 0 }));
    file.close();
  });
}

Deno.test("data that is not cached is read with direct I/O, from any offset to the end", async () => {
  await withCold(async (file) => {
    const [bytes] = contents;
    const direct: number[] = [];
    const opened = file.openDirect.bind(file);
    file.openDirect = () => {
      const reads = opened();
      assert.ok(reads, "the file system of temporary files has direct reads");
      return {
        async readAt(into, offset) {
          const got = await reads.readAt(into, offset);
          if (got >= 0) direct.push(offset);
          return got;
        },
        close: () => reads.close(),
      };
    };
    for (const start of [0, 1, 4096, WINDOW - 1, 3 * WINDOW + 1]) {
      const windows = new ReadWindows(undefined);
      const got = await range(windows, file, start, file.size - start);
      assert.ok(Buffer.compare(got, bytes!.subarray(start)) === 0, `${start}`);
      await windows.end();
    }
    // Windows start at the block that contains each start offset.
    assert.equal(direct.length, 4 + 4 + 3 + 3 + 1);
    assert.ok(direct.every((offset) => offset % 4096 === 0));
  });
});

Deno.test("after a gap in the page cache, cached data is read from memory again", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/file`;
    fs.writeFileSync(path, contents[0]!);
    const file = runSync(FileSource.open(path));
    const cached = file.readCached.bind(file);
    const isInGap = (place: number) => place >= 4096 && place < WINDOW;
    file.readCached = (into, offset) => {
      const end = offset < 4096 ? 4096 - offset : into.length;
      return isInGap(offset) ? 0 : cached(into.subarray(0, end), offset);
    };
    let read = 0;
    const opened = file.openDirect.bind(file);
    file.openDirect = () => {
      const reads = opened();
      assert.ok(reads, "the file system of temporary files has direct reads");
      return {
        readAt: (into, offset) => {
          read++;
          return reads.readAt(into, offset);
        },
        close: () => reads.close(),
      };
    };
    const windows = new ReadWindows(undefined);
    const got = await range(windows, file, 0, file.size);
    assert.ok(Buffer.compare(got, contents[0]!) === 0);
    await windows.end();
    assert.equal(read, 1);
    file.close();
  });
});

Deno.test("if direct I/O fails, ordinary reads are used", async () => {
  await withCold(async (file) => {
    let closed = 0;
    file.openDirect = () => ({
      readAt: () => Promise.resolve(-1),
      close: () => closed++,
    });
    const windows = new ReadWindows(undefined);
    const got = await range(windows, file, 5, file.size - 5);
    assert.ok(Buffer.compare(got, contents[0]!.subarray(5)) === 0);
    await windows.end();
    assert.equal(closed, 1);
  });
});

Deno.test("a source that ends early is an error when it is reached, not before", async () => {
  const [long] = sources;
  const cut: ByteSource = {
    ...long!,
    name: "cut",
    size: 3 * WINDOW,
    readAt: (into, offset) =>
      Promise.resolve(offset < WINDOW ? into.byteLength : 0),
  };
  const windows = new ReadWindows(undefined);
  await windows.move(cut, 0);
  assert.equal(windows.peek(cut, 0, 10).length, 10);
  await assert.rejects(windows.move(cut, WINDOW), { code: "out-of-bounds" });
  assert.equal(windows.peek(cut, WINDOW, 10).length, 0);
  await windows.end();
});
