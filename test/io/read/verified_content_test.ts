/**
 * Wrong contents in a cache are invalidated and read once more; contents that are wrong at the origin are an error.
 */
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import {
  PiecewiseCheck,
  readAgain,
  readParsed,
  readUnlessWrong,
  readVerified,
  readVerifiedSlices,
} from "../../../src/io/read/verified_content.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { readPart } from "../../../src/io/read/read_part.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { crc32cOf, loadCrc32c } from "../../../src/io/checksums/crc32c.ts";

const BYTES = Uint8Array.from({ length: 100_000 }, (_, i) => i * i >> 4);

/** Cached source, with wrong bytes at some offsets until they are invalidated. */
class CachedSource extends MemorySource {
  readonly invalidated: (readonly [offset: number, length: number])[] = [];
  readonly #origin: Uint8Array;

  constructor(wrong: readonly number[], origin: Uint8Array = BYTES) {
    super(flipped(origin, wrong));
    this.#origin = origin;
  }

  invalidate(offset: number, length: number): void {
    this.invalidated.push([offset, length]);
    this.bytes.set(this.#origin.subarray(offset, offset + length), offset);
  }
}

function flipped(
  bytes: Uint8Array,
  places: readonly number[],
): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  for (const at of places) copy[at]! ^= 1;
  return copy;
}

const CONTENT = {
  offset: 1000,
  length: 50_000,
  checksumKind: "crc32",
  checksum: crc32(BYTES.subarray(1000, 51_000)),
} as const;

const WHOLE = BYTES.slice(1000, 51_000);

class Mismatch extends Error {
  constructor(readonly sums: readonly [expected: number, actual: number]) {
    super("checksum mismatch");
  }
}

const mismatch = (...sums: [expected: number, actual: number]) =>
  new Mismatch(sums);

for (const run of [runSync, runAsync]) {
  Deno.test(`corrupt bytes in the cache are read again: ${run.name}`, async () => {
    for (const size of [50_000, 7_000, 1]) {
      const source = new CachedSource([40_000]);
      const into = new Uint8Array(size);
      await run(readVerified(source, CONTENT, into, mismatch));
      assert.deepEqual(source.invalidated, [[1000, 50_000]]);
      if (size === WHOLE.length) assert.deepEqual(into, WHOLE);
      // Bytes outside of the content are unchanged.
      assert.deepEqual(source.bytes, BYTES);
    }
  });

  Deno.test(`correct bytes are not read again: ${run.name}`, async () => {
    const source = new CachedSource([0, 999, 51_000]);
    const into = new Uint8Array(50_000);
    await run(readVerified(source, CONTENT, into, mismatch));
    assert.deepEqual(into, WHOLE);
    assert.deepEqual(source.invalidated, []);
  });

  Deno.test(`bytes that are wrong at the origin are an error: ${run.name}`, async () => {
    const wrong = flipped(BYTES, [2000]);
    const sums = [CONTENT.checksum, crc32(wrong.subarray(1000, 51_000))];
    const thrown = (error: unknown) => {
      assert.deepEqual((error as Mismatch).sums, sums);
      return true;
    };
    const into = new Uint8Array(50_000);
    // Other cached bytes are wrong as well.
    const cached = new CachedSource([3000], wrong);
    const read = async (source: MemorySource) =>
      await run(readVerified(source, CONTENT, into, mismatch));
    await assert.rejects(() => read(cached), thrown);
    assert.equal(cached.invalidated.length, 1);
    await assert.rejects(() => read(new MemorySource(wrong)), thrown);
    const again = readAgain(cached, CONTENT, into, mismatch);
    await assert.rejects(async () => await run(again), thrown);
    assert.equal(cached.invalidated.length, 2);
  });

  Deno.test(`all wrong contents of a batch are invalidated before they are read again: ${run.name}`, async () => {
    await loadCrc32c();
    const places = [[0, 100], [100, 100], [200, 0], [40_000, 60_000], [500, 9]];
    const contents = places.map(([offset, length], i) => {
      const bytes = BYTES.subarray(offset!, offset! + length!);
      const checksumKind = (["crc32", "crc32c", undefined] as const)[i % 3];
      const checksum = checksumKind === "crc32"
        ? crc32(bytes)
        : crc32cOf(bytes);
      return {
        source: 0,
        offset: offset!,
        length: length!,
        checksumKind,
        checksum,
      };
    });
    const source = new CachedSource([7, 150, 90_000, 505]);
    const invalidated = source.invalidated;
    const read = await run(
      readVerifiedSlices([source], contents, (i) => new Error(String(i))),
    );
    assert.deepEqual(
      read,
      contents.map(({ offset, length }) =>
        BYTES.slice(offset, offset + length)
      ),
    );
    assert.deepEqual(
      invalidated.toSorted(([a], [b]) => a - b),
      [[0, 100], [100, 100], [500, 9], [40_000, 60_000]],
    );
    // The error has the index of the content that is wrong at its origin.
    const wrong = new CachedSource([7], flipped(BYTES, [150, 200]));
    await assert.rejects(
      async () =>
        await run(
          readVerifiedSlices([wrong], contents, (i) => new Error(String(i))),
        ),
      /^Error: 1$/,
    );
    // Nothing is compared without an error to throw.
    const unchecked = new CachedSource([7]);
    const [first] = await run(
      readVerifiedSlices([unchecked], contents, undefined),
    );
    assert.deepEqual(first, unchecked.bytes.slice(0, 100));
    assert.deepEqual(unchecked.invalidated, []);
  });

  Deno.test(`unparsable content is read again: ${run.name}`, async () => {
    const parse = (bytes: Uint8Array) => {
      if (bytes[0] !== BYTES[300]) throw new Error("bad header");
      return [...bytes];
    };
    const source = new CachedSource([300]);
    const parsed = await run(readParsed(source, 300, 20, parse));
    assert.deepEqual(parsed, [...BYTES.subarray(300, 320)]);
    assert.deepEqual(source.invalidated, [[300, 20]]);
    for (
      const source of [
        new CachedSource([], flipped(BYTES, [300])),
        new MemorySource(flipped(BYTES, [300])),
      ]
    ) {
      await assert.rejects(
        async () => await run(readParsed(source, 300, 20, parse)),
        /bad header/,
      );
    }
  });

  Deno.test(`content that shows an earlier range to be wrong is read again after it: ${run.name}`, async () => {
    let times = 0;
    const read = (source: MemorySource) =>
      readUnlessWrong(source, () => {
        times++;
        return readPart(source, 10, 5);
      }, (bytes) =>
        bytes[2] === BYTES[12] ? undefined : { offset: 12, length: 1 });
    const source = new CachedSource([12]);
    assert.deepEqual(await run(read(source)), BYTES.slice(10, 15));
    assert.deepEqual(source.invalidated, [[12, 1]]);
    assert.equal(times, 2);
    const wrong = flipped(BYTES, [12]);
    assert.deepEqual(
      await run(read(new MemorySource(wrong))),
      wrong.slice(10, 15),
    );
    assert.equal(times, 3);
  });
}

Deno.test("corrupt pieces are an error, and are invalidated for the next reader", () => {
  const source = new CachedSource([50_999]);
  const readPieces = () => {
    const check = new PiecewiseCheck(source, CONTENT, mismatch);
    for (let at = 1000; at < 51_000; at += 5000) {
      check.add(source.bytes.subarray(at, at + 5000));
    }
    check.end();
  };
  assert.throws(readPieces, Mismatch);
  readPieces();
  assert.deepEqual(source.invalidated, [[1000, 50_000]]);
  // Without a checksum, any content passes.
  const content = { ...CONTENT, checksumKind: undefined };
  new PiecewiseCheck(source, content, mismatch).end();
});
