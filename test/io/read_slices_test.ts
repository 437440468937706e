import assert from "node:assert/strict";
import fc from "fast-check";
import type { ByteSource } from "../../src/io/byte_source.ts";
import { MemorySource } from "../../src/io/memory_source.ts";
import { readSlices } from "../../src/io/read_slices.ts";
import type { Slice } from "../../src/io/slice_runs.ts";
import { runAsync, runSync } from "../../src/io/steps.ts";

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
  }));
const near = fc.array(fc.nat(6000), { maxLength: 40 }).map((gaps) => {
  let offset = 0;
  return gaps.map((gap): Slice => {
    offset = Math.min(offset + gap, bytes.length - 100);
    return { source: 0, offset, length: gap % 100 };
  });
});

Deno.test("a batch is what its slices are one by one", async () => {
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
      },
    ),
    { numRuns: 300 },
  );
});

/** Counts requests, and how many wait at once. */
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

Deno.test("small neighbours are read together, distant slices side by side", async () => {
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

Deno.test("a source that is not local has no sync reads, and says so", () => {
  assert.throws(
    () =>
      runSync(
        readSlices([new SlowSource()], [{ source: 0, offset: 0, length: 1 }]),
      ),
    /slow is not local/,
  );
});

Deno.test("after a failure nothing more is begun", async () => {
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
