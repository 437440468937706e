/**
 * Reads batches of random samples, compared with a bare loop that reads each into a fresh buffer, with and without
 * checksums.
 *
 *   deno run -A bench/ffrecord/read_batches.ts [--samples N] [--size N] [--batch N] [--passes N] [--dir FOLDER]
 *     [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { FFRecordReader } from "../../src/formats/ffrecord/mod.ts";
import { open } from "../../mod.ts";
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
import { requestsUnderWay } from "./slow_source.ts";
import { Workspace } from "../support/workspace.ts";
import { writeSamplesSync } from "../support/write_samples.ts";

/** Size of the small samples in bytes; ten times as many of them are read. */
const SMALL = 1_000;

/** Samples to read, and their order. */
interface Load {
  readonly path: string;
  readonly size: number;
  readonly offsets: Float64Array;
  readonly checksums: Uint32Array;
  readonly batches: readonly number[][];
}

/** `read_batches`: samples a second of each way to read a batch. */
export const readBatchesBenchmark: Benchmark = {
  name: "read_batches",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    samples: 20_000,
    size: 100_000,
    batch: 64,
    passes: 5,
  });
  const { samples, size, batch, passes } = numbers;
  await using workspace = await Workspace.create(
    dir,
    samples * size + 10 * samples * SMALL,
  );
  const rows: Row[] = [];
  for (
    const [count, length] of [[samples, size], [10 * samples, SMALL]] as const
  ) {
    const path = workspace.file(`${length}.ffr`);
    progress(`read_batches: writing ${count} samples of ${length} bytes`);
    writeSamplesSync(path, count, length);
    for (const checked of [true, false]) {
      const load = loadSync(path, length, batch);
      rows.push(...await measureLoad(load, checked, passes));
    }
  }
  const underWay = await requestsUnderWay(batch);
  rows.push({
    measured:
      `read_batches, storage of 1 ms a request: ${batch} × 100000 bytes`,
    subject: "most under way at once",
    value: underWay,
    unit: "requests",
    target: { promise: "≥ 16", met: underWay >= 16 },
  });
  return rows;
}

async function measureLoad(
  load: Load,
  checked: boolean,
  passes: number,
): Promise<Row[]> {
  const { size, batches } = load;
  const measured = `read_batches, ${checked ? "checksummed" : "unchecked"}: ` +
    `${batches[0]!.length} × ${size} bytes`;
  using reader = await FFRecordReader.open(load.path, { checkData: checked });
  using vfs = await open(load.path, { checkData: checked });
  const bare = new BareLoop(load, checked);
  const contenders: BatchContender[] = [
    { name: "loop of readSync into a fresh buffer", read: bare.read },
    {
      name: "FFRecordReader.readSync",
      promise: 1,
      read: (batch) => reader.readSync(batch),
    },
    {
      name: "FFRecordReader.read",
      promise: 1,
      read: (batch) => reader.read(batch),
    },
    {
      name: "FFRecordReader.unsafeViews",
      ...(size > SMALL ? { promise: 2.5 } : {}),
      read: (batch) => reader.unsafeViews(batch),
    },
    {
      name: "VirtualFs.read",
      read: (batch) => vfs.read(batch.map(pathOf)),
    },
  ];
  progress(`${measured}: ${passes} passes`);
  const rows = await measureBatches(contenders, {
    measured,
    unit: "samples/s",
    batches,
    size,
    passes,
  });
  bare.close();
  return rows;
}

/** Reads carefully without any library: the least cost of copying each sample. */
class BareLoop {
  readonly #load: Load;
  readonly #checked: boolean;
  readonly #fd: number;

  constructor(load: Load, checked: boolean) {
    this.#load = load;
    this.#checked = checked;
    this.#fd = fs.openSync(load.path, "r");
  }

  readonly read = (indices: readonly number[]): Uint8Array[] => {
    const { size, offsets, checksums } = this.#load;
    return indices.map((index) => {
      const bytes = new Uint8Array(size);
      fs.readSync(this.#fd, bytes, 0, size, offsets[index]!);
      if (this.#checked && crc32(bytes) !== checksums[index]) {
        throw new Error(`Sample ${index} is damaged`);
      }
      return bytes;
    });
  };

  close(): void {
    fs.closeSync(this.#fd);
  }
}

function loadSync(path: string, size: number, batch: number): Load {
  using reader = FFRecordReader.openSync(path);
  const { offsets, checksums } = reader;
  return {
    path,
    size,
    offsets,
    checksums,
    batches: batchesOf(reader.length, batch),
  };
}

function pathOf(index: number): string {
  return String(index).padStart(6, "0");
}

if (import.meta.main) await runAlone(readBatchesBenchmark);
