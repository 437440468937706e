/** Batches in shared memory. */
import assert from "node:assert/strict";
import { imageCodec } from "../../../src/codecs/image/mod.ts";
import type { NdArray } from "../../../src/codecs/numpy/mod.ts";
import { DataLoader, FFRecordDataset } from "../../../src/open/data/mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { testImage } from "../../support/images.ts";

const FUNCTIONS = new URL("../support/collates.ts", import.meta.url);

/** Code of a thread that changes an array sent to it. */
const SETS_FIRST = encodeURIComponent(
  "onmessage = ({ data }) => { data[0] = 7; postMessage(0); }",
);

const LENGTH = 40;

/** Returns sample `i` of the file: some bytes, each `i`. */
function sampleOf(i: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(100 + 37 * (i % 11)).fill(i);
}

async function withSamples(body: (path: string) => Promise<void>) {
  await withTempDir(async (dir) => {
    const path = `${dir}/samples.ffr`;
    const samples = Array.from({ length: LENGTH }, (_, i) => sampleOf(i));
    await Deno.writeFile(path, ffrBytes(samples));
    await body(path);
  });
}

for (const numWorkers of [0, 2]) {
  Deno.test(`samples and their collated batches are in shared memory: ${numWorkers} workers`, async () => {
    await withSamples(async (path) => {
      using dataset = await FFRecordDataset.open(path);
      const common = { batchSize: 8, numWorkers, shared: true } as const;
      const seen = new Set<ArrayBufferLike>();
      await using loader = new DataLoader(dataset, common);
      let i = 0;
      for await (const batch of loader) {
        for (const sample of batch) {
          assert.ok(sample.buffer instanceof SharedArrayBuffer);
          assert.deepEqual([...sample], [...sampleOf(i++)]);
        }
        assert.ok(!seen.has(batch[0]!.buffer)); // no two batches share memory
        seen.add(batch[0]!.buffer);
      }
      assert.equal(i, LENGTH);
      await using lengths = new DataLoader<Uint8Array, Float64Array>(dataset, {
        ...common,
        collate: { module: FUNCTIONS, name: "lengths" },
      });
      for await (const batch of lengths) {
        assert.ok(batch.buffer instanceof SharedArrayBuffer);
        assert.equal(batch.length, 8);
        assert.ok(batch.every((length) => length >= 100));
      }
    });
  });

  Deno.test(`recycled shared memory is loaded into again, and no other: ${numWorkers} workers`, async () => {
    await withSamples(async (path) => {
      using dataset = await FFRecordDataset.open(path);
      await using loader = new DataLoader(dataset, {
        batchSize: 4,
        numWorkers,
        persistentWorkers: numWorkers > 0,
        shared: true,
      });
      loader.recycle([]);
      const held: { batch: Uint8Array[]; first: number }[] = [];
      const marks: number[] = [];
      for (let epoch = 0; epoch < 4; epoch++) {
        let first = 0;
        for await (const batch of loader) {
          const tail = new Uint8Array(batch[0]!.buffer).subarray(-8);
          marks.push(tail[0]!);
          tail.fill(0xee); // after the samples, where nothing is read to
          if (first % 8 === 0) held.push({ batch, first });
          else loader.recycle(batch);
          first += 4;
        }
      }
      for (const { batch, first } of held) {
        batch.forEach((sample, i) =>
          assert.deepEqual([...sample], [...sampleOf(first + i)])
        );
      }
      assert.ok(marks.includes(0xee));
    });
  });
}

Deno.test("arrays of images are created in shared memory, which other threads see without a copy", async () => {
  const codec = await imageCodec("imagescript");
  const jpegs = await Promise.all(
    [60, 70, 80, 90].map((quality) => codec.encode(testImage(24, 16), quality)),
  );
  await withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(jpegs));
    using dataset = await FFRecordDataset.open<NdArray>(`${dir}/a.ffr`, {
      process: { module: FUNCTIONS, name: "pictureArrays" },
    });
    await using loader = new DataLoader(dataset, {
      batchSize: 4,
      numWorkers: 1,
      shared: true,
    });
    for await (const { shape, data } of loader) {
      assert.deepEqual(shape, [4, 3, 16, 24]);
      assert.ok(data instanceof Float32Array);
      assert.ok(data.buffer instanceof SharedArrayBuffer);
      const other = new Worker(`data:text/javascript,${SETS_FIRST}`, {
        type: "module",
      });
      const { promise, resolve } = Promise.withResolvers<unknown>();
      other.onmessage = resolve;
      other.postMessage(data);
      await promise;
      other.terminate();
      assert.equal(data[0], 7);
    }
  });
});
