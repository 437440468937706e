import assert from "node:assert/strict";
import { LONG } from "../../support/long.ts";
import fc from "../../support/random.ts";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { FFRecordDataset } from "../../../src/open/data/datasets.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { descriptorsBelow } from "../../support/programs/descriptors.ts";

/** Returns sample `i` of the file: some bytes, each `i`. */
function sampleOf(i: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(100 + 37 * (i % 11)).fill(i);
}

async function withSamples(
  body: (dataset: FFRecordDataset, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/samples.ffr`;
    const samples = Array.from({ length: 60 }, (_, i) => sampleOf(i));
    await Deno.writeFile(path, ffrBytes(samples));
    using dataset = await FFRecordDataset.open(path);
    await body(dataset, dir);
  });
}

/** Returns the buffers of a batch of bytes. */
function buffersOf(batch: readonly Uint8Array[]): ArrayBufferLike[] {
  return [...new Set(batch.map(({ buffer }) => buffer))];
}

for (const numWorkers of [0, 1, 2]) {
  Deno.test(`batches in use are never overwritten, whatever is recycled: ${numWorkers} workers`, async () => {
    await withSamples(async (dataset) => {
      await using loader = new DataLoader(dataset, {
        batchSize: 4,
        shuffle: true,
        numWorkers,
        persistentWorkers: numWorkers > 0,
      });
      loader.recycle([]); // from now on, batches are in the loader's memory
      const deeds = fc.array(
        fc.record({ give: fc.nat(9), twice: fc.boolean(), keep: fc.boolean() }),
        { minLength: 15, maxLength: 15 },
      );
      await fc.assert(
        fc.asyncProperty(deeds, async (deeds) => {
          const held: { batch: Uint8Array[]; content: Uint8Array[] }[] = [];
          let i = 0;
          for await (const batch of loader) {
            for (const sample of batch) {
              assert.deepEqual(sample, sampleOf(sample[0]!));
            }
            const content = batch.map((sample) => sample.slice());
            held.push({ batch, content });
            const { give, twice, keep } = deeds[i++]!;
            for (const old of held) assert.deepEqual(old.batch, old.content);
            if (keep) continue;
            const [given] = held.splice(give % held.length, 1);
            loader.recycle(given!.batch as typeof batch);
            if (twice) loader.recycle(given!.batch as typeof batch);
            // A recycled batch is empty, so that it can't be mistaken for another one.
            for (const sample of given!.batch) assert.equal(sample.length, 0);
          }
          assert.equal(i, 15);
        }),
        { numRuns: numWorkers === 0 ? 50 : LONG ? 20 : 8 },
      );
    });
  });

  Deno.test(`threads close their files: ${numWorkers} workers`, async () => {
    await withSamples(async (dataset, dir) => {
      await using loader = new DataLoader(dataset, {
        batchSize: 4,
        numWorkers,
      });
      for await (const batch of loader) {
        assert.equal(batch.length, 4);
        if (loader.step === 3) break;
      }
      for await (const _ of loader);
      dataset.close();
      assert.equal(await descriptorsBelow(dir), 0);
    });
  });
}

Deno.test("the samples of a batch are in one buffer, which no other batch shares", async () => {
  await withSamples(async (dataset) => {
    for (const numWorkers of [0, 2]) {
      await using loader = new DataLoader(dataset, {
        batchSize: 8,
        numWorkers,
      });
      loader.recycle([]);
      const seen = new Set<ArrayBufferLike>();
      for await (const batch of loader) {
        const buffers = buffersOf(batch);
        assert.equal(buffers.length, 1);
        assert.ok(!seen.has(buffers[0]!));
        seen.add(buffers[0]!);
      }
    }
  });
});

Deno.test("recycled memory is loaded into again", async () => {
  await withSamples(async (dataset) => {
    const loader = new DataLoader(dataset, { batchSize: 60 });
    const marked = async (mark: number) => {
      for await (const batch of loader) {
        const [buffer] = buffersOf(batch);
        const tail = new Uint8Array(buffer!).subarray(-8);
        const before = [...tail];
        tail.fill(mark); // after the samples, where nothing is read to
        loader.recycle(batch);
        return before;
      }
      throw new Error("There was no batch");
    };
    loader.recycle([]);
    await marked(1);
    assert.deepEqual(await marked(2), new Array(8).fill(1));
    assert.deepEqual(await marked(3), new Array(8).fill(2));
    await loader.close();
    loader.recycle([]);
    assert.deepEqual(await marked(4), new Array(8).fill(0));
  });
});

Deno.test("memory that is not the loader's is not recycled", () => {
  const loader = new DataLoader<Uint8Array>({
    length: 1,
    get: () => [new Uint8Array(3)],
  } as never);
  const own = [new Uint8Array([1, 2])];
  loader.recycle(own);
  loader.recycle(own);
  loader.recycle(undefined as never);
  assert.deepEqual(own, [new Uint8Array([1, 2])]);
});
