/**
 * Reads batches of random records of a bag, compared with a bare loop that reads each into a fresh buffer.
 *
 *   deno run -A bench/bags/bags_batches.ts [--megabytes N] [--batch N] [--passes N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { BagReader, BagWriter } from "../../src/formats/bags/mod.ts";
import {
  type BatchContender,
  measureBatches,
} from "../support/batch_rounds.ts";
import { batchesOf } from "../support/random_order.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { windowedBytes } from "../support/windows.ts";
import { Workspace } from "../support/workspace.ts";

/** Record sizes in bytes. */
const SIZES = [8, 1_000, 100_000];

/** Upper limit on the number of small records. */
const MOST_RECORDS = 200_000;

/** Promised speed relative to the bare loop. */
const PROMISE = 0.9;

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
  const contenders: BatchContender[] = [
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
      promise: PROMISE,
      read: (indices) => reader.readSync(indices),
    },
    {
      name: "BagReader.read",
      promise: PROMISE,
      read: (indices) => reader.read(indices),
    },
  ];
  const rows = await measureBatches(contenders, {
    measured: `bags_batches, ${batches[0]!.length} × ${size} bytes`,
    unit: "records/s",
    batches,
    size,
    passes,
  });
  fs.closeSync(fd);
  return rows;
}

function writeBagSync(path: string, count: number, size: number): void {
  const block = windowedBytes(size, count);
  using writer = BagWriter.openSync(path);
  for (let i = 0; i < count; i++) {
    writer.writeSync(block.subarray(i, i + size));
  }
  writer.closeSync();
}

if (import.meta.main) await runAlone(bagsBatchesBenchmark);
