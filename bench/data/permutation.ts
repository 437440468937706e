/**
 * Shuffles a billion samples: measures the time an index, compared with a table of ten million that is shuffled and
 * read.
 *
 *   deno run -A bench/data/permutation.ts [--indices N] [--rounds N] [--json]
 *
 * @module
 */
import { permutation, Random } from "../../src/open/data/mod.ts";
import {
  batchesOf,
  BlockShuffleSampler,
  type Order,
  RandomSampler,
  WeightedRandomSampler,
} from "../../src/open/data/mod.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate, median } from "../support/rounds.ts";

const SAMPLES = 1e9;

/** Just above a power of two, where an index goes through the network twice on average. */
const UNLUCKY = 2 ** 30 + 1;

/** Samples in the table; a billion would take 4 GB. */
const STORED = 1e7;

/** Number of weights, each of which takes memory. */
const WEIGHTS = 1e6;

/** Promised upper limit of the time an index, in ns. */
const MOST = 1000;

/** `permutation`: ns an index of shuffles. */
export const permutationBenchmark: Benchmark = {
  name: "permutation",
  run: measure,
};

/** Computes `count` indices and returns their sum, so that the compiler can't drop any. */
type Contender = (count: number, round: number) => number;

const CONTENDERS: Record<string, Contender> = {
  "permutation(10^9).at": (count, round) =>
    sum(permutation(SAMPLES, new Random(round)), count),
  "permutation(10^9).positionOf": (count, round) => {
    const order = permutation(SAMPLES, new Random(round));
    return sum({ length: SAMPLES, at: (i) => order.positionOf(i) }, count);
  },
  "permutation(2^30 + 1).at": (count, round) =>
    sum(permutation(UNLUCKY, new Random(round)), count),
  "permutation(2^53 - 1).at": (count, round) =>
    sum(permutation(2 ** 53 - 1, new Random(round)), count),
  "RandomSampler(10^9), batches of 64": (count, round) => {
    const order = new RandomSampler(SAMPLES).order(1, round);
    const batches = batchesOf(order, { batchSize: 64 });
    let sum = 0;
    for (let step = 0; step < count / 64; step++) sum += batches.at(step)[0]!;
    return sum;
  },
  "RandomSampler(10^9), replacement": (count, round) =>
    sum(
      new RandomSampler(SAMPLES, { replacement: true }).order(1, round),
      count,
    ),
  "BlockShuffleSampler(10^9), 32 blocks of 1,000": (count, round) => {
    const options = { blockSize: 1000, buffer: 32 };
    return sum(
      new BlockShuffleSampler(SAMPLES, options).order(1, round),
      count,
    );
  },
  "WeightedRandomSampler(10^6)": (count, round) => {
    const draws = new WeightedRandomSampler(weights, Infinity);
    return sum(draws.order(1, round), count);
  },
};

const TABLE = "a table of 10^7, shuffled, then read";

function shuffleTable(count: number, round: number): number {
  const random = new Random(round);
  const table = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const other = random.int(i + 1);
    table[i] = table[other]!;
    table[other] = i;
  }
  return sum({ length: count, at: (i) => table[i]! }, count);
}

const weights = Float64Array.from({ length: WEIGHTS }, (_, i) => 1 + i % 7);

function sum(order: Order, count: number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += order.at(i);
  return total;
}

async function measure(args: string[]): Promise<Row[]> {
  const { numbers: { indices, rounds } } = parseOptions(args, {
    indices: 1_000_000,
    rounds: 7,
  });
  const contenders = [
    ...Object.entries(CONTENDERS).map(([name, run]) => ({
      name,
      run,
      count: indices,
    })),
    { name: TABLE, run: shuffleTable, count: STORED },
  ];
  for (const { run } of contenders) run(100_000, 0); // compiles code
  const taken = await alternate(contenders, rounds, (contender, round) => {
    const { name, run, count } = contender;
    progress(`permutation: ${name}`);
    const start = performance.now();
    const total = run(count, round);
    const ms = performance.now() - start;
    if (!(total > 0)) throw new Error(`${name} gave no indices`);
    return Promise.resolve(ms * 1e6 / count);
  });
  return contenders.map(({ name }, i): Row => {
    const value = median(taken[i]!);
    return {
      measured: "permutation: an index",
      subject: name,
      value,
      unit: "ns",
      rounds: taken[i]!,
      ...name === TABLE
        ? { ratio: value / median(taken[0]!) }
        : { target: { promise: "< 1 µs", met: value < MOST } },
    };
  });
}

if (import.meta.main) await runAlone(permutationBenchmark);
