/**
 * How well orders mix a dataset that is sorted by class: a full shuffle, blocks, and the shuffle windows of other
 * libraries.
 */
import {
  BlockShuffleSampler,
  RandomSampler,
  SequentialSampler,
} from "../../../src/open/data/mod.ts";
import { PYTHON } from "../../support/programs/programs.ts";

/** Number of samples, of consecutive classes, and of shards. */
export const LENGTH = 50_000;
const CLASSES = 100;
const SHARD = 1000;
export const BATCH = 256;

/** Number of samples in a window. */
const WINDOW = 1000;

/** How well an order mixes. */
export interface Quality {
  /** Correlation of positions in the order with positions in the dataset; its sign has no meaning. */
  readonly correlation: number;
  /** Mean number of different classes in a batch. */
  readonly classes: number;
}

/** Orders of the dataset as sample indices, by method. */
export const ORDERS: Readonly<Record<string, () => Promise<number[]>>> = {
  "as it lies": () => Promise.resolve(own(new SequentialSampler(LENGTH))),
  "`shuffle: true`": () => Promise.resolve(own(new RandomSampler(LENGTH))),
  "`BlockShuffleSampler`, 16 blocks of 100": () =>
    Promise.resolve(
      own(new BlockShuffleSampler(LENGTH, { blockSize: 100 })),
    ),
  "`BlockShuffleSampler`, 64 blocks of 100": () =>
    Promise.resolve(
      own(new BlockShuffleSampler(LENGTH, { blockSize: 100, buffer: 64 })),
    ),
  "WebDataset: shards, then a window of 1,000": webdatasetOrder,
  "HF Datasets: shards, then a window of 1,000": () =>
    Promise.resolve(reservoirOrder(shuffledShards())),
};

function own(
  sampler: { order(seed: number, epoch: number): { at(i: number): number } },
): number[] {
  const order = sampler.order(7, 0);
  return Array.from({ length: LENGTH }, (_, i) => order.at(i));
}

/** Returns shards in random order, each with its samples in sequence. */
function shuffledShards(): number[] {
  const shards = new RandomSampler(LENGTH / SHARD).order(3, 0);
  return Array.from(
    { length: LENGTH },
    (_, i) => shards.at(Math.floor(i / SHARD)) * SHARD + i % SHARD,
  );
}

/** Runs the original package. */
async function webdatasetOrder(): Promise<number[]> {
  const code = `
import json, random, sys
from webdataset.filters import _shuffle
order = json.load(sys.stdin)
print(json.dumps(list(_shuffle(iter(order), ${WINDOW}, ${WINDOW}, random.Random(7)))))`;
  const child = new Deno.Command(PYTHON, {
    args: ["-c", code],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(
    new TextEncoder().encode(JSON.stringify(shuffledShards())),
  );
  await writer.close();
  const { stdout } = await child.output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

/**
 * Shuffles as `IterableDataset.shuffle(buffer_size)` is documented: each sample replaces one drawn from the window.
 */
function reservoirOrder(samples: readonly number[]): number[] {
  const random = generator(11);
  const window = samples.slice(0, WINDOW);
  const order: number[] = [];
  for (const sample of samples.slice(WINDOW)) {
    const at = random(window.length);
    order.push(window[at]!);
    window[at] = sample;
  }
  for (let left = window.length; left > 0; left--) {
    const at = random(left);
    order.push(window[at]!);
    window[at] = window[left - 1]!;
  }
  return order;
}

/** Returns a generator of whole numbers below a limit, the same on every machine (MINSTD). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = state * 48271 % 0x7fffffff;
    return Math.floor(state / 0x7fffffff * below);
  };
}

/** Measures how well an order mixes. */
export function qualityOf(order: readonly number[]): Quality {
  const mean = (LENGTH - 1) / 2;
  let [both, one] = [0, 0];
  for (const [place, sample] of order.entries()) {
    both += (place - mean) * (sample - mean);
    one += (place - mean) ** 2;
  }
  let [classes, batches] = [0, 0];
  for (let at = 0; at + BATCH <= LENGTH; at += BATCH) {
    const seen = new Set(
      order.slice(at, at + BATCH)
        .map((sample) => Math.floor(sample / (LENGTH / CLASSES))),
    );
    classes += seen.size;
    batches++;
  }
  return { correlation: Math.abs(both / one), classes: classes / batches };
}
