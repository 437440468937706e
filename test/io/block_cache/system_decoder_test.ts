import assert from "node:assert/strict";
import { constants, deflateRawSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { FormatError } from "../../../src/base/errors.ts";
import { runAsync, type Steps } from "../../../src/io/concurrency/steps.ts";
import {
  decompress,
  decompressed,
} from "../../../src/io/block_cache/inflate.ts";
import { systemDecoder } from "../../../src/io/block_cache/system_decoder.ts";
import { needs } from "../../support/programs/programs.ts";

const fault = (why: string) => new FormatError("bad-structure", why, {});

/** Returns the result, or the error message. */
function told<T>(steps: Steps<T>): Promise<T | string> {
  return runAsync(steps).catch(({ message }: Error) => message);
}

/** Contents that deflate compresses well, or not at all. */
const contents = fc.oneof(
  fc.uint8Array({ maxLength: 5000 }),
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(3000))
    .map(([part, times]) => {
      const all = new Uint8Array(part.length * times);
      for (let at = 0; at < all.length; at += part.length) all.set(part, at);
      return all;
    }),
);

const COMPRESSIONS = [
  {
    compression: "deflate",
    library: "libdeflate",
    compress: (content: Uint8Array, level: number) =>
      deflateRawSync(content, { level }),
  },
  {
    compression: "zstd",
    library: "libzstd",
    compress: (content: Uint8Array, level: number) =>
      zstdCompressSync(content, {
        params: { [constants.ZSTD_c_compressionLevel]: level },
      }),
  },
] as const;

for (const { compression, library, compress } of COMPRESSIONS) {
  Deno.test({
    name:
      `${compression}: contents of any level are decoded, in this thread or another, into any memory`,
    ...needs(library),
    fn: async () => {
      const decoder = systemDecoder(compression);
      assert.ok(decoder);
      await fc.assert(
        fc.asyncProperty(
          contents,
          fc.integer({ min: 0, max: 9 }),
          fc.boolean(),
          async (content, level, isShared) => {
            const bytes = Uint8Array.from(compress(content, level));
            const memory = isShared
              ? new SharedArrayBuffer(content.length + 3)
              : new ArrayBuffer(content.length + 3);
            const into = new Uint8Array(memory, 3);
            assert.ok(decoder.decode(bytes, into));
            assert.deepEqual([...into], [...content]);
            into.fill(0);
            assert.ok(await decoder.decodeElsewhere(bytes, into));
            assert.deepEqual([...into], [...content]);
            const all = new Uint8Array(memory);
            assert.deepEqual([...all.subarray(0, 3)], [0, 0, 0]);
          },
        ),
      );
    },
  });

  Deno.test({
    name:
      `${compression}: reports damage and wrong sizes exactly as without the library`,
    ...needs(library),
    fn: () =>
      fc.assert(
        fc.asyncProperty(
          contents,
          fc.integer({ min: -2, max: 2 }),
          fc.option(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))),
          async (content, more, flip) => {
            const bytes = Uint8Array.from(compress(content, 3));
            if (flip !== null) bytes[flip[0] % bytes.length]! ^= flip[1];
            const size = Math.max(0, content.length + more);
            const expected = await told(
              decompressed(bytes, compression, size, fault),
            );
            const into = new Uint8Array(size);
            const got = await told(decompress(bytes, compression, into, fault));
            if (got === undefined) {
              // A stream that zlib rejects, and the library accepts, has checksums that detect the damage.
              if (typeof expected !== "string") {
                assert.deepEqual([...into], [...expected!]);
              }
            } else assert.equal(got, expected);
          },
        ),
      ),
  });
}
