/** Caching of decoded contents, and how often they are decoded. */
import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../src/io/concurrency/steps.ts";
import {
  DECODED_BLOCK,
  DecodedBlocks,
} from "../../../src/io/block_cache/decoded_blocks.ts";
import {
  DecodedSource,
  type EncodedContent,
} from "../../../src/io/block_cache/decoded_source.ts";
import {
  type Compression,
  decompress,
} from "../../../src/io/block_cache/inflate.ts";

function bytesOf(length: number, seed: number): Uint8Array {
  return new Uint8Array(length).map((_, i) =>
    (Math.imul(i >> 3, 2654435761) >>> 11) + seed
  );
}

/** Content that counts how often decoding was begun. */
class Counted implements EncodedContent {
  readonly name = "counted";
  readonly mtime = 0;
  readonly isLocal = true;
  readonly bytes: Uint8Array;
  decoded = 0;
  pieces?: EncodedContent["pieces"];

  constructor(bytes: Uint8Array, isInPieces: boolean, piece = 10_007) {
    this.bytes = bytes;
    if (!isInPieces) return;
    this.pieces = () => {
      this.decoded++;
      let at = 0;
      return {
        // deno-lint-ignore require-yield -- all of it is in memory
        *next(): Steps<Uint8Array> {
          return bytes.subarray(at, at += piece);
        },
      };
    };
  }

  get size(): number {
    return this.bytes.length;
  }

  // deno-lint-ignore require-yield -- all of it is in memory
  *decode(into: Uint8Array): Steps<void> {
    this.decoded++;
    into.set(this.bytes);
  }
}

Deno.test("a content is decoded once, and then read from the cache", async () => {
  const blocks = DecodedBlocks.ofSize(64 * DECODED_BLOCK);
  const content = new Counted(bytesOf(3 * DECODED_BLOCK + 17, 1), false);
  const source = new DecodedSource(content, blocks, blocks.newOwner(), 5);
  for (
    const [offset, length] of [[0, 10], [DECODED_BLOCK - 3, 9], [
      3 * DECODED_BLOCK,
      99,
    ]]
  ) {
    const into = new Uint8Array(length!);
    const got = source.readAtSync!(into, offset!);
    const expected = content.bytes.subarray(offset, offset! + length!);
    assert.equal(got, expected.length);
    assert.deepEqual(into.subarray(0, got), expected);
  }
  assert.equal(await source.readAt(new Uint8Array(4), content.size), 0);
  assert.equal(content.decoded, 1);
});

Deno.test("content read whole by a caller that caches it is not cached here as well, unless a part was", () => {
  const blocks = DecodedBlocks.ofSize(64 * DECODED_BLOCK);
  const content = new Counted(bytesOf(2 * DECODED_BLOCK + 3, 1), false);
  const { size } = content;
  const source = new DecodedSource(content, blocks, blocks.newOwner(), 5);
  const whole = new Uint8Array(size);
  runSync(source.fillToKeep(whole, 0));
  assert.deepEqual(whole, content.bytes);
  assert.equal(source.readCached(new Uint8Array(1), 0), 0);
  // A partial read is usually followed by a read of the next part.
  const part = new Uint8Array(DECODED_BLOCK);
  runSync(source.fillToKeep(part, 100));
  assert.deepEqual(part, content.bytes.subarray(100, 100 + DECODED_BLOCK));
  assert.equal(source.readCached(new Uint8Array(size), 0), size);
  runSync(source.fillToKeep(whole.fill(0), 0));
  assert.deepEqual(whole, content.bytes);
  assert.equal(content.decoded, 2);
});

Deno.test("blocks of other threads are found, and not confused with those of other contents", () => {
  const blocks = DecodedBlocks.ofSize(64 * DECODED_BLOCK);
  const owner = blocks.newOwner();
  const content = new Counted(bytesOf(DECODED_BLOCK, 1), false);
  new DecodedSource(content, blocks, owner, 1)
    .readAtSync!(new Uint8Array(1), 0);
  const again = new DecodedBlocks(blocks.memory);
  const there = new DecodedSource(content, again, owner, 1);
  const into = new Uint8Array(DECODED_BLOCK);
  assert.equal(there.readCached(into, 0), DECODED_BLOCK);
  assert.deepEqual(into, content.bytes);
  for (const [owner_, number] of [[owner, 2], [again.newOwner(), 1]]) {
    const other = new DecodedSource(content, again, owner_!, number!);
    assert.equal(other.readCached(into, 0), 0);
  }
});

Deno.test("there are never more blocks than fit, and used ones stay", () => {
  const blocks = DecodedBlocks.ofSize(8 * DECODED_BLOCK);
  const owner = blocks.newOwner();
  const one = new Uint8Array(1);
  const block = (i: number) => new Uint8Array(DECODED_BLOCK).fill(i);
  for (let i = 0; i < 100; i++) {
    blocks.put(owner, i, 0, block(i));
    assert.ok(blocks.read(owner, i, 0, one, 5));
    assert.equal(one[0], i);
  }
  const kept = Array.from({ length: 100 }, (_, i) => i)
    .filter((i) => blocks.read(owner, i, 0, one, 0));
  assert.equal(kept.length, 8);
  blocks.drop(owner, kept[0]!, 1);
  assert.equal(blocks.read(owner, kept[0]!, 0, one, 0), false);
});

Deno.test("a sequential reader of a content larger than the cache decodes it once", async () => {
  for (const isSync of [true, false]) {
    const blocks = DecodedBlocks.ofSize(4 * DECODED_BLOCK);
    const content = new Counted(bytesOf(20 * DECODED_BLOCK + 5, 3), true);
    const source = new DecodedSource(content, blocks, blocks.newOwner(), 0);
    const read = new Uint8Array(content.size);
    const waiting: Promise<number>[] = [];
    for (let at = 0; at < read.length; at += 30_011) {
      const into = read.subarray(at, at + 30_011);
      if (isSync) source.readAtSync!(into, at);
      else waiting.push(source.readAt(into, at));
    }
    await Promise.all(waiting);
    assert.deepEqual(read, content.bytes);
    assert.equal(content.decoded, 1);
    const into = new Uint8Array(100); // seek backwards
    source.readAtSync!(into, 7);
    assert.deepEqual(into, content.bytes.subarray(7, 107));
    assert.equal(content.decoded, 2);
  }
});

Deno.test("threads that request one content wait for the one that decodes it", async () => {
  const blocks = DecodedBlocks.ofSize(64 * DECODED_BLOCK);
  const owner = blocks.newOwner();
  assert.ok(blocks.claim(owner, 1));
  const module = import.meta.resolve(
    "../../../src/io/block_cache/decoded_blocks.ts",
  );
  const code = `import { DecodedBlocks } from "${module}";
    self.onmessage = ({ data }) => {
      const blocks = new DecodedBlocks(data.memory);
      self.postMessage("waits");
      const isOurs = blocks.claim(data.owner, 1);
      self.postMessage(isOurs ? "ours" : "was another's");
    };`;
  const url = `data:application/typescript,${encodeURIComponent(code)}`;
  const worker = new Worker(url, { type: "module" });
  const said = Promise.withResolvers<string>();
  const waits = Promise.withResolvers<void>();
  worker.onmessage = ({ data }) =>
    data === "waits" ? waits.resolve() : said.resolve(data);
  worker.postMessage({ memory: blocks.memory, owner });
  await waits.promise;
  blocks.release(owner, 1);
  // Either may come first; the waiter must not hang.
  assert.match(await said.promise, /ours|another/);
  worker.terminate();
});

const fault = (why: string) => new Error(why);

const ENCODERS: Readonly<
  Record<Compression, (bytes: Uint8Array) => Uint8Array>
> = {
  brotli: (bytes) =>
    zlib.brotliCompressSync(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 },
    }),
  deflate: (bytes) => zlib.deflateRawSync(bytes),
  gzip: (bytes) => zlib.gzipSync(bytes),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
};

Deno.test("wrong sizes are errors", async () => {
  const bytes = bytesOf(300_000, 2);
  for (const [how, encode] of Object.entries(ENCODERS)) {
    const packed = new Uint8Array(encode(bytes));
    for (const size of [299_999, 300_001, 1]) {
      const into = new Uint8Array(size);
      const whole = () =>
        runAsync(decompress(packed, how as Compression, into, fault));
      await assert.rejects(whole, /has (more than its|300000 bytes, not)/);
    }
  }
  const damaged = new Uint8Array(ENCODERS.deflate(bytes));
  damaged[damaged.length >> 1]! ^= 0xff;
  const into = new Uint8Array(bytes.length);
  await assert.rejects(
    runAsync(decompress(damaged, "deflate", into, fault)).then(() =>
      assert.deepEqual(into, bytes)
    ),
  );
});

Deno.test("zstd is decoded in one call, to its declared size", async () => {
  const bytes = bytesOf(100_000, 4);
  const packed = zlib.zstdCompressSync(bytes);
  const into = new Uint8Array(bytes.length);
  await runAsync(decompress(packed, "zstd", into, fault));
  assert.deepEqual(into, bytes);
  await assert.rejects(
    runAsync(decompress(packed, "zstd", into.subarray(1), fault)),
    /has more than its 99999 bytes/,
  );
});
