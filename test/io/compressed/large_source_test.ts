/** Large contents of containers: read in any order, decoded once, and then from checkpoints. */
import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import {
  DECODED_BLOCK,
  DecodedBlocks,
} from "../../../src/io/block_cache/decoded_blocks.ts";
import { LargeSource } from "../../../src/io/compressed/large_source.ts";
import {
  type InnerCompression,
  innerMethodOf,
  loadInner,
} from "../../../src/io/compressed/methods.ts";
import { runAsync, type Steps } from "../../../src/io/concurrency/steps.ts";
import { FileSource } from "../../../src/io/storage/file_source.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import type { CacheOptions } from "../../../src/io/remote/remote_options.ts";
import { joined, mixedBytes } from "../../support/compress.ts";
import { withMemoryDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { piped } from "../../support/compress.ts";
import fc from "../../support/random.ts";

const PLAIN = mixedBytes(24_000_000, 17);
/** Bytes before and behind the content in its file. */
const BEFORE = 1234;
const AFTER = new Uint8Array(999).fill(0x78);

const ENCODERS: Readonly<
  Record<
    InnerCompression,
    (bytes: Uint8Array) => Promise<Uint8Array> | Uint8Array
  >
> = {
  brotli: (bytes) =>
    zlib.brotliCompressSync(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 },
    }),
  bzip2: (bytes) => piped(bytes, "bzip2", "-c"),
  deflate: (bytes) => zlib.deflateRawSync(bytes, { level: 1 }),
  gzip: (bytes) => zlib.gzipSync(bytes, { level: 1 }),
  zlib: (bytes) => zlib.deflateSync(bytes, { level: 1 }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
};
const COMPRESSIONS = Object.keys(ENCODERS) as InnerCompression[];
const WITH_CHECKPOINTS = ["deflate", "gzip", "zlib"] as const;

interface Counted {
  /** Encoded bytes that were read. */
  read: number;
}

interface Given {
  readonly packed: number;
  readonly size?: number;
  readonly cache?: CacheOptions | false;
  readonly blocks?: DecodedBlocks;
}

/** Returns a content that begins behind other bytes, and counts what is read of it. */
function large(
  file: ByteSource,
  how: InnerCompression,
  {
    packed,
    size = PLAIN.length,
    cache = false,
    blocks = DecodedBlocks.ofSize(64 << 20),
  }: Given,
): { readonly source: LargeSource; readonly counted: Counted } {
  const counted = { read: 0 };
  const count = (got: number) => {
    counted.read += got;
    return got;
  };
  const watched = file instanceof FileSource
    ? new Proxy(file, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const result = value.apply(target, args);
          if (name === "readAtSync" || name === "readCached") {
            return count(result as number);
          }
          return name === "readAt" ? result.then(count) : result;
        };
      },
    })
    : file;
  const content = {
    file: watched,
    name: "x: 'member'",
    packed,
    size,
    mtime: 0,
    method: innerMethodOf(how),
    fault: (why: string) => new Error(`the member ${why}`),
    // deno-lint-ignore require-yield -- it is known
    *locate(): Steps<number> {
      return BEFORE;
    },
  };
  const caches = {
    blocks,
    owner: blocks.newOwner(),
    number: 7,
    remote: { cache },
  };
  return { source: new LargeSource(content, caches), counted };
}

function compareAt(
  source: ByteSource,
  offset: number,
  length: number,
  plain = PLAIN,
): void {
  const into = new Uint8Array(length);
  const expected = plain.subarray(offset, offset + length);
  assert.equal(source.readAtSync!(into, offset), expected.length);
  assert.ok(Buffer.from(into.buffer, 0, expected.length).equals(expected));
}

async function compareAtLater(
  source: ByteSource,
  offset: number,
  length: number,
  plain = PLAIN,
): Promise<void> {
  const into = new Uint8Array(length);
  const expected = plain.subarray(offset, offset + length);
  assert.equal(await source.readAt(into, offset), expected.length);
  assert.ok(Buffer.from(into.buffer, 0, expected.length).equals(expected));
}

for (const how of COMPRESSIONS) {
  Deno.test({
    name:
      `${how}: a large content is read in any order, also while it is decoded for the first time`,
    ...needs(...how === "bzip2" ? ["bzip2"] : []),
    fn: async () => {
      await runAsync(loadInner([how]));
      const slow = how === "bzip2" || how === "brotli";
      const plain = slow ? PLAIN.subarray(0, 2_500_000) : PLAIN;
      const packed = await ENCODERS[how](plain);
      const file = new MemorySource(
        joined(new Uint8Array(BEFORE), packed, AFTER),
        "x",
      );
      const size = plain.length;
      const { source } = large(file, how, { packed: packed.length, size });
      const range = fc.tuple(
        fc.nat(size + 10),
        fc.nat(200_000),
        fc.boolean(),
      );
      await fc.assert(
        fc.asyncProperty(range, async ([offset, length, isSync]) => {
          if (isSync) compareAt(source, offset, length, plain);
          else await compareAtLater(source, offset, length, plain);
        }),
        { numRuns: slow ? 3 : 12 },
      );
      // Many at once, and one that does not wait.
      const starts = [0.8, 0.1, 0.7, 0, 0.999].map((part) =>
        Math.floor(part * size)
      );
      const reads = starts.map((at) =>
        compareAtLater(source, at, 70_000, plain)
      );
      await Promise.resolve();
      compareAt(source, size >> 1, 1000, plain);
      await Promise.all(reads);
      source.close();
    },
  });
}

for (const how of WITH_CHECKPOINTS) {
  Deno.test(`${how}: behind the first pass, a read decodes one part, in every program that has the cache`, () =>
    withMemoryDir(async (dir) => {
      const packed = await ENCODERS[how](PLAIN);
      const path = `${dir}/x`;
      await Deno.writeFile(
        path,
        joined(new Uint8Array(BEFORE), packed, AFTER),
      );
      const cache = { directory: `${dir}/cache` };
      // One interval of 4 MiB, up to the end of a deflate block, and what is read ahead.
      const most = 0.35 * packed.length;
      for (let program = 0; program < 2; program++) {
        const file = await runAsync(LOCAL_DISK.open(path));
        const { source, counted } = large(file, how, {
          packed: packed.length,
          cache,
        });
        if (program === 0) {
          compareAt(source, 19_000_000, 100);
          const front = counted.read;
          assert.ok(
            front > 0.5 * packed.length,
            `${front} of ${packed.length}`,
          );
          compareAt(source, 3_000_000, 100); // what has been seen
          assert.ok(counted.read - front < most);
          compareAt(source, PLAIN.length - 1, 1);
        }
        for (const at of [22_000_000, 2_000_000, 15_000_000]) {
          const before = counted.read;
          compareAt(source, at, 1000);
          const read = counted.read - before;
          assert.ok(read < most, `${read} of ${packed.length}`);
        }
        assert.ok(counted.read < (program === 0 ? 2 : 0.9) * packed.length);
        source.close();
        file.close();
      }
    }));
}

Deno.test("false sizes and damage are errors, of every compression", async () => {
  const plain = PLAIN.subarray(0, 300_000);
  for (const how of COMPRESSIONS) {
    if (how === "bzip2" && needs("bzip2").ignore) continue;
    await runAsync(loadInner([how]));
    const packed = await ENCODERS[how](plain);
    const place = (bytes: Uint8Array) =>
      new MemorySource(joined(new Uint8Array(BEFORE), bytes), "x");
    for (const size of [plain.length - 1, plain.length + 1, 1]) {
      const { source } = large(place(packed), how, {
        packed: packed.length,
        size,
      });
      const into = new Uint8Array(size);
      const expected = size < plain.length
        ? /^Error: the member has more than its \d+ bytes/
        : /^Error: the member has 300000 bytes, not 300001/;
      assert.throws(() => source.readAtSync!(into, 0), expected, how);
      await assert.rejects(source.readAt(into, 0), expected);
      // What comes before is there.
      if (size > plain.length) {
        source.readAtSync!(into.subarray(0, 1000), 5000);
        assert.deepEqual(into.subarray(0, 1000), plain.slice(5000, 6000));
      }
      source.close();
    }
    const cut = packed.slice(0, packed.length >> 1);
    const { source } = large(place(cut), how, {
      packed: cut.length,
      size: plain.length,
    });
    assert.throws(
      () => source.readAtSync!(new Uint8Array(plain.length), 0),
      /^Error: the member (can't be decompressed|has \d+ bytes, not)/,
      how,
    );
  }
});

Deno.test("sources that others interrupt in the middle of decoding go on", async () => {
  const packed = await ENCODERS.deflate(PLAIN);
  const file = new MemorySource(joined(new Uint8Array(BEFORE), packed), "x");
  const sources = Array.from(
    { length: 7 },
    () => large(file, "deflate", { packed: packed.length }).source,
  );
  for (const at of [6_000_000, 1_000_000, 6_000_100, 9_000_000]) {
    for (const source of sources) compareAt(source, at, 10);
  }
  for (const source of sources) {
    await compareAtLater(source, 9_500_000, 10);
    source.close();
    compareAt(source, 9_500_000, 10); // it begins again
    source.close();
  }
});

Deno.test("what a cache has wrong is fetched again", () => {
  const packed = zlib.deflateRawSync(PLAIN, { level: 1 });
  const right = joined(new Uint8Array(BEFORE), packed);
  const bytes = right.slice();
  bytes[bytes.length >> 1]! ^= 0xff;
  const file = new MemorySource(bytes, "x");
  const { source } = large(file, "deflate", { packed: packed.length });
  assert.equal(source.invalidate, undefined);
  assert.throws(() => compareAt(source, 0, PLAIN.length), /can't be|has /);
  let invalidated = 0;
  const blocks = DecodedBlocks.ofSize(64 * DECODED_BLOCK);
  const content = {
    file,
    name: "member",
    packed: packed.length,
    size: PLAIN.length,
    mtime: 0,
    method: innerMethodOf("deflate"),
    fault: (why: string) => new Error(why),
    // deno-lint-ignore require-yield -- it is known
    *locate(): Steps<number> {
      return BEFORE;
    },
    invalidate() {
      invalidated++;
      bytes.set(right);
    },
  };
  const cached = new LargeSource(content, {
    ...{ blocks, owner: 1, number: 1, remote: { cache: false as const } },
  });
  compareAt(cached, PLAIN.length - 10, 10);
  assert.equal(invalidated, 1);
  cached.close();
});
