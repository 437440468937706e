/**
 * Reads batches of random records of a bag, beside a bare loop that reads each into a fresh buffer.
 *
 *   deno run -A bench/bags_batches.ts [--megabytes N] [--batch N] [--passes N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { BagReader, BagWriter } from "../src/formats/bags/mod.ts";
import { batchesOf } from "./support/random_order.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "./support/report.ts";
import { alternate, median } from "./support/rounds.ts";
import { Workspace } from "./support/workspace.ts";

/** Bytes of the records. */
const SIZES = [8, 1_000, 100_000];

/** No more records than this, where they are small. */
const MOST_RECORDS = 200_000;

/** How many times as fast as the bare loop. */
const PROMISE = 0.9;

/** Batches of one round. */
const STRETCH = 32;

interface Contender {
  readonly name: string;
  /** Reads one batch. */
  read(indices: readonly number[]): Uint8Array[] | Promise<Uint8Array[]>;
}

/** `bags_batches`: records a second. */
export const bagsBatchesBenchmark: Benchmark = {
  name: "bags_batches",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    megabytes: 500,
    batch: 64,
    passes: 5,
  });
  const { megabytes, batch, passes } = numbers;
  await using workspace = await Workspace.create(
    dir,
    SIZES.length * megabytes * 1e6,
  );
  const rows: Row[] = [];
  for (const size of SIZES) {
    const count = Math.min(Math.ceil(megabytes * 1e6 / size), MOST_RECORDS);
    progress(`bags_batches: ${count} records of ${size} bytes`);
    const path = workspace.file(`${size}.bag`);
    writeBagSync(path, count, size);
    rows.push(...await measureBag(path, size, batchesOf(count, batch), passes));
  }
  return rows;
}

async function measureBag(
  path: string,
  size: number,
  batches: readonly number[][],
  passes: number,
): Promise<Row[]> {
  using reader = await BagReader.open(path);
  const fd = fs.openSync(path, "r");
  const contenders: Contender[] = [
    {
      name: "loop of readSync into a fresh buffer",
      read: (indices) =>
        indices.map((index) => {
          const bytes = new Uint8Array(size);
          fs.readSync(fd, bytes, 0, size, index * size);
          return bytes;
        }),
    },
    {
      name: "BagReader.readSync",
      read: (indices) => reader.readSync(indices),
    },
    {
      name: "BagReader.read",
      read: (indices) => reader.read(indices),
    },
  ];
  const stretches = Array.from(
    { length: Math.ceil(batches.length / STRETCH) },
    (_, i) => batches.slice(i * STRETCH, (i + 1) * STRETCH),
  );
  const measureRound = (one: Contender, round: number) =>
    rate(one, stretches[round % stretches.length]!, size);
  await alternate(contenders, stretches.length, measureRound); // compiles code, brings the file into memory
  const rounds = passes * stretches.length;
  const rates = await alternate(contenders, rounds, measureRound);
  fs.closeSync(fd);
  const measured = `bags_batches, ${batches[0]!.length} × ${size} bytes`;
  const [loop, ...ours] = contenders.map(({ name }, i): Row => ({
    measured,
    subject: name,
    value: median(rates[i]!),
    unit: "records/s",
    rounds: rates[i]!,
  }));
  return ours.flatMap((own) => {
    // Of rounds that follow each other: what else the machine does then slows both.
    const ratio = median(
      own.rounds!.map((rate, k) => rate / loop!.rounds![k]!),
    );
    const target = { promise: `≥ ${PROMISE}×`, met: ratio >= PROMISE };
    return [own, { ...loop!, ratio, target }];
  });
}

/** Records a second over these batches. */
async function rate(
  { name, read }: Contender,
  batches: readonly number[][],
  size: number,
): Promise<number> {
  const start = performance.now();
  let records = 0;
  for (const batch of batches) {
    const pending = read(batch);
    const contents = pending instanceof Promise ? await pending : pending;
    if (contents.at(-1)?.length !== size) {
      throw new Error(`${name} did not read what it should`);
    }
    records += contents.length;
  }
  return records / (performance.now() - start) * 1000;
}

function writeBagSync(path: string, count: number, size: number): void {
  // Every record is another window of one block: cheap to make, yet no two are equal.
  const block = new Uint8Array(size + count);
  for (let i = 0; i < block.length; i++) block[i] = Math.imul(i, i) >> 7;
  using writer = BagWriter.openSync(path);
  for (let i = 0; i < count; i++) {
    writer.appendSync(block.subarray(i, i + size));
  }
  writer.closeSync();
}

if (import.meta.main) await runAlone(bagsBatchesBenchmark);
