/**
 * Training runs that are stopped at every point, resumed, stopped again, and resumed with other threads, by all
 * samplers and sources, for all ranks. Each sees exactly the batches of an uninterrupted run.
 */
import assert from "node:assert/strict";
import type { Dataset } from "../../../src/data/dataset.ts";
import {
  DataLoader,
  type LoaderOptions,
  type LoaderState,
} from "../../../src/open/data/mod.ts";
import {
  BatchSampler,
  BlockShuffleSampler,
  RandomSampler,
  SequentialSampler,
  SubsetRandomSampler,
  SubsetSampler,
  WeightedRandomSampler,
} from "../../../src/open/data/mod.ts";
import {
  Epochs,
  Interleave,
  Mix,
  Sample,
  Transform,
  Truncate,
} from "../../../src/open/data/mod.ts";
import { ListDataset, range } from "../../support/list_dataset.ts";
import { LONG } from "../../support/long.ts";

const LENGTH = 23;
/** Number of batches to check if there is no end. */
const MOST = 9;
const module = new URL("../../support/sample_functions.ts", import.meta.url);

type Options = Omit<LoaderOptions<number, number[]>, "numWorkers">;
interface Case {
  readonly dataset: Dataset<number>;
  readonly options: Options;
}

const list = new ListDataset(range(0, LENGTH));

const CASES: Readonly<Record<string, () => Case>> = {
  ...ofList({
    "in order": { shuffle: false },
    "shuffled": { shuffle: true, seed: 5 },
    "shuffled, without a smaller last batch": { shuffle: true, dropLast: true },
    "SequentialSampler": { sampler: new SequentialSampler(LENGTH) },
    "RandomSampler": { sampler: new RandomSampler(LENGTH) },
    "RandomSampler with replacement": {
      sampler: new RandomSampler(LENGTH, {
        replacement: true,
        numSamples: 31,
      }),
    },
    "BlockShuffleSampler": {
      sampler: new BlockShuffleSampler(LENGTH, { blockSize: 3, buffer: 2 }),
    },
    "WeightedRandomSampler": {
      sampler: new WeightedRandomSampler(range(1, LENGTH + 1), 29),
    },
    "SubsetSampler": { sampler: new SubsetSampler(range(3, 17)) },
    "SubsetRandomSampler": { sampler: new SubsetRandomSampler(range(3, 17)) },
    "BatchSampler": {
      batchSampler: new BatchSampler(new RandomSampler(LENGTH), {
        batchSize: 3,
      }),
    },
  }),
  ...ofSources({
    "Epochs": () => new Epochs(list, { seed: 1 }),
    "Epochs in order": () => new Epochs(list, { shuffle: false }),
    "Sample": () => new Sample(list, { seed: 2 }),
    "Truncate": () => new Truncate(list, 11),
    "Interleave": () =>
      new Interleave([list, new Truncate(list, 7), new Truncate(list, 9)]),
    "Mix": () =>
      new Mix([new Epochs(list, { seed: 1 }), new Sample(list)], [2, 1], {
        seed: 3,
      }),
    "Transform": () =>
      new Transform<number, number>(new Epochs(list, { seed: 4 }), {
        module,
        name: "withRandom",
      }),
  }),
};

function ofList(
  cases: Readonly<Record<string, Options>>,
): Record<string, () => Case> {
  return Object.fromEntries(
    Object.entries(cases).map(([name, options]) => [
      name,
      () => ({
        dataset: list,
        options: options.batchSampler ? options : { batchSize: 4, ...options },
      }),
    ]),
  );
}

function ofSources(
  sources: Readonly<Record<string, () => Dataset<number>>>,
): Record<string, () => Case> {
  return Object.fromEntries(
    Object.entries(sources).map(([name, make]) => [
      name,
      () => ({ dataset: make(), options: { batchSize: 4, seed: 6 } }),
    ]),
  );
}

/** Returns the next batches of a loader, across epochs. */
async function take(
  loader: DataLoader<number, number[]>,
  count: number,
): Promise<number[][]> {
  const batches: number[][] = [];
  while (batches.length < count) {
    const before = batches.length;
    for await (const batch of loader) {
      batches.push([...batch]);
      if (batches.length === count) break;
    }
    if (batches.length === before) break; // stop at a rank without batches
  }
  return batches;
}

for (const [name, make] of Object.entries(CASES)) {
  Deno.test(`${name}: saved at every point and resumed twice, every rank sees the same samples`, async () => {
    const { dataset, options } = make();
    const worlds: [number, boolean][] = [[1, false], [2, false], [3, false], [
      3,
      true,
    ]];
    let points = 0;
    for (const [worldSize, padRanks] of worlds) {
      for (let rank = 0; rank < worldSize; rank++) {
        const own = { ...options, collate: false, worldSize, rank, padRanks };
        const open = (numWorkers = 0, state?: string) => {
          const loader = new DataLoader<number, number[]>(dataset, {
            ...own,
            numWorkers,
          } as LoaderOptions<number, number[]>);
          if (state) loader.load(JSON.parse(state) as LoaderState);
          return loader;
        };
        await using first = open();
        const whole = await take(first, MOST);
        for (let stop = 0; stop < whole.length; stop++) {
          points++;
          const again = stop + (stop + rank) % (whole.length - stop);
          // Threads start slowly, so only a few points use them.
          const workers = (LONG ? points % 5 : points % 97) === 40 ? 2 : 0;
          const parts: number[][] = [];
          let state: string | undefined;
          for (const end of [stop, again, whole.length]) {
            await using loader = open(
              end === whole.length ? workers : 0,
              state,
            );
            parts.push(...await take(loader, end - parts.length));
            state = JSON.stringify(loader.save());
          }
          assert.deepEqual(parts, whole, `${worldSize}/${rank} at ${stop}`);
        }
      }
    }
    assert.ok(points > 8);
  });
}
