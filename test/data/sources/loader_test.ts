/** Loaders over sources behave like granular's, according to its description. */
import assert from "node:assert/strict";
import { Dataset } from "../../../src/data/dataset.ts";
import { BagDataset } from "../../../src/formats/bags/data/bag_dataset.ts";
import { DataError } from "../../../src/data/data_error.ts";
import { DataLoader } from "../../../src/data/loader/data_loader.ts";
import {
  Epochs,
  Mix,
  Sample,
  Transform,
  Truncate,
} from "../../../src/open/data/mod.ts";
import { ListDataset, range } from "../../support/list_dataset.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { withTempDir } from "../../support/paths.ts";

const module = new URL("../../support/sample_functions.ts", import.meta.url);
const list = new ListDataset(range(0, 10));
const inOrder = new Epochs(list, { shuffle: false });

/** Returns the samples of a loader's next batches. */
async function take<T>(
  loader: DataLoader<T, T[]>,
  batches: number,
): Promise<T[]> {
  const samples: T[] = [];
  for await (const batch of loader) {
    samples.push(...batch);
    if (--batches === 0) break;
  }
  return samples;
}

/** Makes a source that combines everything drawn at random. */
function drawn(): Dataset<number> {
  const mixed = new Mix(
    [new Epochs(list, { seed: 1 }), new Sample(new Truncate(list, 7))],
    [2, 1],
    { seed: 2 },
  );
  return new Transform<number, number>(mixed, { module, name: "withRandom" });
}

Deno.test("a loader of Epochs continues from one epoch to the next", async () => {
  for (const batchSize of [1, 3, 6, 12]) {
    for (const numWorkers of [0, 2]) {
      const options = { batchSize, numWorkers, collate: false } as const;
      await using loader = new DataLoader<number, number[]>(inOrder, options);
      assert.equal(loader.length, Infinity);
      const batches = Math.ceil(20 / batchSize);
      const output = await take(loader, batches);
      assert.deepEqual(
        output,
        range(0, batches * batchSize).map((step) => step % 10),
      );
    }
  }
});

Deno.test("a loader of datapoints stacks them, key by key", async () => {
  await withTempDir(async (dir) => {
    const points = range(0, 10).map((i) => ({
      bar: new TextEncoder().encode(`${i}`),
      foo: new Uint8Array(new BigInt64Array([BigInt(i)]).buffer),
    }));
    writeDataset(dir, { bar: "utf8", foo: "int" }, points, 3);
    using dataset = await BagDataset.open(dir);
    const source = new Epochs(dataset);
    const options = { batchSize: 4, numWorkers: 1 };
    await using loader = new DataLoader(source, options);
    const seen: string[] = [];
    for await (const { foo, bar } of loader) {
      assert.deepEqual([...foo as Iterable<number>].map(String), bar);
      seen.push(...bar as string[]);
      if (loader.step === 5) break;
    }
    for (const epoch of [seen.slice(0, 10), seen.slice(10)]) {
      assert.equal(epoch.toSorted().join(""), "0123456789");
    }
    assert.notDeepEqual(seen.slice(0, 10), seen.slice(10));
  });
});

Deno.test("a loader continues where it was saved, with any number of threads", async () => {
  const options = { batchSize: 2, seed: 5, collate: false } as const;
  await using whole = new DataLoader<number, number[]>(drawn(), options);
  const expected = await take(whole, 12);
  for (const [before, after] of [[0, 2], [2, 1], [1, 0]] as const) {
    const first = new DataLoader<number, number[]>(
      drawn(),
      { ...options, numWorkers: before },
    );
    const start = await take(first, 5);
    const state = JSON.parse(JSON.stringify(first.save()));
    await first.close();
    await using second = new DataLoader<number, number[]>(
      drawn(),
      { ...options, numWorkers: after },
    );
    second.load(state);
    assert.equal(second.step, 5);
    assert.deepEqual([...start, ...await take(second, 7)], expected);
  }
});

Deno.test("a loader may begin at any step of an endless source", async () => {
  const options = { batchSize: 8, collate: false } as const;
  await using loader = new DataLoader<number, number[]>(drawn(), options);
  const step = 1e12;
  loader.setStep(step);
  const steps = range(8 * step, 8 * step + 16);
  assert.deepEqual(await take(loader, 2), await drawn().get(steps));
});

Deno.test("a loader's seed has the same effect as a source's", async () => {
  const samples = async (seed: number) => {
    const options = { batchSize: 10, seed, collate: false } as const;
    const loader = new DataLoader<number, number[]>(drawn(), options);
    return await take(loader, 1);
  };
  assert.deepEqual(await samples(1), await samples(1));
  assert.notDeepEqual(await samples(1), await samples(2));
});

Deno.test("a loop after an abandoned one returns other samples", async () => {
  const options = { batchSize: 10, collate: false } as const;
  const source = new Epochs(list);
  await using loader = new DataLoader<number, number[]>(source, options);
  const loops = [
    await take(loader, 1),
    await take(loader, 1),
    await take(loader, 1),
  ];
  assert.equal(new Set(loops.map(String)).size, 3);
});

Deno.test("ranks share the steps", async () => {
  for (const worldSize of [1, 2, 3]) {
    for (const batchSize of [1, 3, 6]) {
      const loaders = range(0, worldSize).map((rank) =>
        new DataLoader<number, number[]>(drawn(), {
          batchSize,
          rank,
          worldSize,
          collate: false,
        })
      );
      const parts = await Promise.all(loaders.map((loader) => take(loader, 6)));
      const steps = range(0, 6 * batchSize * worldSize);
      const sorted = (samples: readonly number[]) =>
        samples.toSorted((a, b) => a - b);
      assert.deepEqual(sorted(parts.flat()), sorted(await drawn().get(steps)));
    }
  }
});

Deno.test("a sample that fails is named by its step and its file", async () => {
  class Damaged extends ListDataset<number> {
    override get(indices: readonly number[]): Promise<readonly number[]> {
      if (indices.includes(7)) {
        return Promise.reject(
          new DataError("sample-failed", "unreadable", { path: "list#7" }),
        );
      }
      return super.get(indices);
    }
  }
  const source = new Epochs(new Damaged(range(0, 10), "list"), { seed: 3 });
  const options = { batchSize: 10, seed: 9, collate: false } as const;
  await using loader = new DataLoader<number, number[]>(source, options);
  const order = await new Epochs(list, { seed: 3 }).get(
    range(0, 10),
    { seed: 9 },
  );
  await assert.rejects(take(loader, 1), (error) => {
    assert.ok(error instanceof DataError);
    assert.deepEqual(
      [error.code, error.sample, error.path],
      ["sample-failed", order.indexOf(7), "list#7"],
    );
    return true;
  });
});
