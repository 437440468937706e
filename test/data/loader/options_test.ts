import assert from "node:assert/strict";
import { DataLoader, type LoaderOptions } from "../../../src/open/data/mod.ts";
import { BatchSampler, RandomSampler } from "../../../src/open/data/mod.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";

const dataset = new NumbersDataset(10);
const batchSampler = new BatchSampler([1, 2], { batchSize: 1 });

function make(options: LoaderOptions<[number, number, number], unknown>) {
  return new DataLoader(dataset, options);
}

Deno.test("options that exclude each other are rejected", () => {
  const cases: [LoaderOptions<[number, number, number], unknown>, RegExp][] = [
    [{ sampler: [1], shuffle: true }, /sampler and shuffle exclude/],
    [{ batchSampler, batchSize: 2 }, /batchSampler and batchSize exclude/],
    [{ batchSampler, shuffle: true }, /batchSampler and shuffle exclude/],
    [{ batchSampler, sampler: [1] }, /batchSampler and sampler exclude/],
    [{ batchSampler, dropLast: true }, /batchSampler and dropLast exclude/],
    [
      { batchSampler: [[1], [2]] as never },
      /^A batch sampler must be an object/,
    ],
    [{ timeout: 5 }, /timeout is only for worker threads/],
    [
      { persistentWorkers: true },
      /persistentWorkers is only for worker threads/,
    ],
    [
      { workerInit: new URL("file:///x.ts") },
      /workerInit is only for worker threads/,
    ],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => make(options), { name: "TypeError", message });
  }
  make({ sampler: new RandomSampler(10), shuffle: false, timeout: 0 });
  make({ batchSampler, shuffle: false, dropLast: false });
});

Deno.test("a value that is not a dataset is rejected at once", async () => {
  const opened = Promise.resolve(dataset);
  for (
    const [wrong, message] of [
      [opened, /promise of one\. Await it/],
      [[1, 2, 3], /Give an object with length and get/],
      ["train.ffr", /Give an object/],
      [undefined, /Give an object/],
      [{ get: () => [] }, /Give an object with length/],
    ] as const
  ) {
    assert.throws(() => new DataLoader(wrong as never), {
      name: "TypeError",
      message,
    });
  }
  await opened;
});

Deno.test("options out of range are rejected", () => {
  const cases: [LoaderOptions<[number, number, number], unknown>, RegExp][] = [
    [{ batchSize: 0 }, /^batchSize must be a whole number .*, not 0$/],
    [{ batchSize: 1.5 }, /^batchSize must be a whole number .*, not 1.5$/],
    [{ seed: -1 }, /^seed must be a whole number .*, not -1$/],
    [{ numWorkers: -1 }, /^numWorkers must be a whole number .*, not -1$/],
    [
      { prefetchFactor: 0 },
      /^prefetchFactor must be a whole number .*, not 0$/,
    ],
    [{ worldSize: 0 }, /^worldSize must be a whole number .*, not 0$/],
    [{ rank: -1 }, /^rank must be a whole number .*, not -1$/],
    [{ rank: 2, worldSize: 2 }, /^rank must be .*, not 2 of 2$/],
    [{ numWorkers: 1, timeout: -1 }, /^timeout must be .*, not -1$/],
    [{ numWorkers: 1, timeout: NaN }, /^timeout must be .*, not NaN$/],
    [
      { numWorkers: 1, timeout: 1e12 },
      /^timeout must be .*, not 1000000000000$/,
    ],
    [{ sampler: [1, -1] }, /The index at position 1 must be .*, not -1$/],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => make(options), { name: "RangeError", message });
  }
});

Deno.test("steps that an epoch does not have are rejected", () => {
  const loader = make({ batchSize: 4 });
  for (const step of [3, -1, 0.5, NaN, Infinity]) {
    assert.throws(() => loader.setStep(step), {
      name: "RangeError",
      message: /There is no step .*: valid positions are 0 to 2/,
    });
  }
  for (const epoch of [-1, 0.5, NaN]) {
    assert.throws(() => loader.setEpoch(epoch), { name: "RangeError" });
  }
  assert.deepEqual([loader.epoch, loader.step], [0, 0]);
});
