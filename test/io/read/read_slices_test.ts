import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import fc from "../../support/random.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { SharedRoom } from "../../../src/io/read/read_memory.ts";
import { readSlices } from "../../../src/io/read/read_slices.ts";
import type { Slice } from "../../../src/io/read/slice_runs.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";

const bytes = new Uint8Array(300_000).map((_, i) => (i * 2654435761) >>> 13);

const slice = fc.tuple(
  fc.nat(1),
  fc.nat(bytes.length),
  fc.oneof(fc.nat(300), fc.nat(bytes.length)),
)
  .map(([source, offset, length]): Slice => ({
    source,
    offset,
    length: Math.min(length, bytes.length - offset),
    checksumKind: "crc32",
  }));
const near = fc.array(fc.nat(6000), { maxLength: 40 }).map((gaps) => {
  let offset = 0;
  return gaps.map((gap): Slice => {
    offset = Math.min(offset + gap, bytes.length - 100);
    return { source: 0, offset, length: gap % 100, checksumKind: "crc32" };
  });
});

const few = fc.array(slice, { maxLength: 10 });

Deno.test("a batch equals its slices one by one", async () => {
  const sources = [
    new MemorySource(bytes),
    new MemorySource(bytes.toReversed()),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.array(slice, { maxLength: 30 }), near),
      async (slices) => {
        const expected = slices.map(({ source, offset, length }) =>
          sources[source]!.bytes.slice(offset, offset + length)
        );
        assert.deepEqual(runSync(readSlices(sources, slices)), expected);
        assert.deepEqual(await runAsync(readSlices(sources, slices)), expected);
        const sums = expected.map((slice) => crc32(slice));
        for (const run of [runSync, runAsync]) {
          const seen: number[] = [];
          const verify = (i: number, crc: number) => void (seen[i] = crc);
          await run(readSlices(sources, slices, verify));
          assert.deepEqual(seen, sums);
        }
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("in shared memory slices stay next to each other, where they were read", async () => {
  const sources = [
    new MemorySource(bytes),
    new MemorySource(bytes.toReversed()),
  ];
  const room = new SharedRoom();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.array(slice, { maxLength: 30 }), near),
      async (slices) => {
        const expected = slices.map(({ source, offset, length }) =>
          sources[source]!.bytes.slice(offset, offset + length)
        );
        const sums = expected.map((slice) => crc32(slice));
        for (const run of [runSync, runAsync]) {
          const seen: number[] = [];
          const verify = (i: number, crc: number) => void (seen[i] = crc);
          const read = await run(readSlices(sources, slices, verify, room));
          assert.deepEqual(read, expected);
          assert.deepEqual(seen, sums);
          assert.ok(new Set(read.map(({ buffer }) => buffer)).size <= 1);
          for (const { buffer } of read) {
            assert.ok(buffer as ArrayBufferLike instanceof SharedArrayBuffer);
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** Source with every other page cached; reads of the others are asynchronous. */
class HalfCached extends MemorySource {
  static readonly PAGE = 4096;
  waits = 0;

  override readCached(into: Uint8Array, offset: number): number {
    const page = Math.floor(offset / HalfCached.PAGE);
    if (page % 2 === 1) return 0;
    const there = (page + 1) * HalfCached.PAGE - offset;
    return this.readAtSync(into.subarray(0, there), offset);
  }

  override async readAt(into: Uint8Array, offset: number): Promise<number> {
    this.waits++;
    await new Promise((resolve) => setTimeout(resolve));
    return this.readAtSync(into, offset);
  }
}

Deno.test("cached data is read without waiting, whatever the rest", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(few, near), async (slices) => {
      const sources = [
        new HalfCached(bytes),
        new HalfCached(bytes.toReversed()),
      ];
      const expected = slices.map(({ source, offset, length }) =>
        sources[source]!.bytes.slice(offset, offset + length)
      );
      for (const places of [undefined, placesOf(slices)]) {
        const seen: number[] = [];
        const verify = (i: number, crc: number) => void (seen[i] = crc);
        const read = await runAsync(
          readSlices(sources, slices, verify, places),
        );
        assert.deepEqual(read, expected);
        assert.deepEqual(seen, expected.map((slice) => crc32(slice)));
        if (places === undefined) continue;
        assert.ok(places.every((place, i) => place === read[i]));
      }
    }),
    { numRuns: 50 },
  );
  const source = new HalfCached(bytes);
  const page = (i: number) => ({ source: 0, offset: i * 40_960, length: 4096 });
  await runAsync(readSlices([source], [page(0), page(1), page(2)]));
  assert.equal(source.waits, 0);
  const missing = { ...page(3), offset: 4096 };
  await runAsync(readSlices([source], [page(0), missing, page(1)]));
  assert.equal(source.waits, 1);
});

/** Returns adjacent destinations in memory with old content. */
function placesOf(slices: readonly Slice[]): Uint8Array<ArrayBuffer>[] {
  const total = slices.reduce((sum, { length }) => sum + length, 0);
  const memory = new Uint8Array(total).fill(255);
  let start = 0;
  return slices.map(({ length }) => memory.subarray(start, start += length));
}

/** Counts requests, and how many are in flight at once. */
class SlowSource implements ByteSource {
  readonly name = "slow";
  readonly size = bytes.length;
  readonly mtime = 0;
  requests = 0;
  waiting = 0;
  most = 0;

  async readAt(into: Uint8Array, offset: number): Promise<number> {
    this.requests++;
    this.most = Math.max(this.most, ++this.waiting);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.waiting--;
    into.set(bytes.subarray(offset, offset + into.length));
    return into.length;
  }

  close(): void {}
}

Deno.test("small neighbours are read together, distant slices concurrently", async () => {
  const source = new SlowSource();
  const neighbours = Array.from(
    { length: 100 },
    (_, i) => ({ source: 0, offset: i * 1000, length: 900 }),
  );
  await runAsync(readSlices([source], neighbours));
  assert.equal(source.requests, 1);
  const distant = Array.from(
    { length: 32 },
    (_, i) => ({ source: 0, offset: i * 9000, length: 10 }),
  );
  await runAsync(readSlices([source], distant));
  assert.equal(source.requests, 33);
  assert.equal(source.most, 16);
});

Deno.test("a batch of samples of 100 KB keeps 16 requests in flight", async () => {
  const source = new SlowSource();
  const batch = Array.from(
    { length: 64 },
    (_, i) => ({ source: 0, offset: i * 3000, length: 100_000 }),
  );
  await runAsync(readSlices([source], batch));
  assert.equal(source.requests, 64);
  assert.equal(source.most, 16);
});

Deno.test("a slice that does not verify ends the reading, and nothing remains in flight", async () => {
  const source = new SlowSource();
  const slices = Array.from(
    { length: 40 },
    (_, i): Slice => ({
      source: 0,
      offset: i * 7000,
      length: 10,
      checksumKind: "crc32",
    }),
  );
  const damaged = (i: number) => {
    if (i === 3) throw new Error("slice 3 is damaged");
  };
  await assert.rejects(
    runAsync(readSlices([source], slices, damaged)),
    /slice 3 is damaged/,
  );
  assert.equal(source.waiting, 0);
  assert.ok(source.requests < 40, `${source.requests} requests`);
  assert.throws(
    () => runSync(readSlices([new MemorySource(bytes)], slices, damaged)),
    /slice 3 is damaged/,
  );
});

Deno.test("an abort in the middle of a batch ends it with the signal's reason", async () => {
  const source = new SlowSource();
  const slices = Array.from(
    { length: 200 },
    (_, i): Slice => ({
      source: 0,
      offset: (i % 3) * 70_000,
      length: 40_000,
      checksumKind: "crc32",
    }),
  );
  const controller = new AbortController();
  const reason = new Error("enough");
  const verify = (i: number) => {
    if (i === 0) controller.abort(reason);
  };
  await assert.rejects(
    runAsync(readSlices([source], slices, verify), controller.signal),
    reason,
  );
  assert.equal(source.waiting, 0);
  assert.ok(source.requests < 200, `${source.requests} requests`);
});

Deno.test("a source that is not local has no synchronous reads, and reports it", () => {
  assert.throws(
    () =>
      runSync(
        readSlices([new SlowSource()], [{ source: 0, offset: 0, length: 1 }]),
      ),
    /Cannot read slow synchronously: it is not on a local disk/,
  );
});

Deno.test("after a failure nothing more is started", async () => {
  const source = new SlowSource();
  const read = source.readAt.bind(source);
  source.readAt = (into, offset) =>
    offset === 90_000 ? Promise.reject(new Error("lost")) : read(into, offset);
  const slices = Array.from(
    { length: 33 },
    (_, i) => ({ source: 0, offset: i * 9000, length: 10 }),
  );
  await assert.rejects(runAsync(readSlices([source], slices)), /lost/);
  const begun = source.requests;
  assert.ok(begun <= 16, `${begun} requests`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(source.requests, begun);
  assert.equal(source.waiting, 0);
});
