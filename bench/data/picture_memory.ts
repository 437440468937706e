/**
 * Measures memory over an epoch of many images: it must not grow if batches are given back.
 *
 *   deno run -A bench/data/picture_memory.ts [--images N] [--pictures N] [--workers N] [--dir FOLDER] [--json]
 *
 * @module
 */
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import { DataLoader, FFRecordDataset } from "../../src/open/data/mod.ts";
import { anonymousMemory } from "../support/memory.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { Workspace } from "../support/workspace.ts";
import { jpegRecords } from "./jpeg_records.ts";

const CHAINS = new URL("./train_pictures.ts", import.meta.url);

/** Number of memory samples; memory is still growing during the first ones. */
const LOOKS = 20;

/** Most growth from the first fifth to the end, as a factor. */
const TARGET = 1.05;

/** `picture_memory`: megabytes after a fifth of an epoch, and at its end. */
export const pictureMemoryBenchmark: Benchmark = {
  name: "picture_memory",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    images: 512,
    pictures: 100_000,
    workers: 2,
  });
  const { images, pictures, workers } = numbers;
  await using workspace = await Workspace.create(dir, images * 400_000);
  progress(`picture_memory: making ${images} JPEGs`);
  const path = await jpegRecords(workspace, images);
  using dataset = await FFRecordDataset.open<NdArray>(path, {
    process: { module: CHAINS, name: "random" },
  });
  await using loader = new DataLoader(dataset, {
    batchSize: 32,
    numWorkers: workers,
    sampler: Array.from({ length: pictures }, (_, i) => i % images),
  });
  const step = pictures / LOOKS;
  let count = 0;
  let early = 0;
  let last = 0;
  let most = 0;
  for await (const batch of loader) {
    const before = count;
    count += batch.shape[0]!;
    loader.recycle(batch);
    if (Math.floor(count / step) === Math.floor(before / step)) continue;
    last = await anonymousMemory();
    if (count <= pictures / 5) early = Math.max(early, last);
    most = Math.max(most, last);
    progress(`picture_memory: ${count} pictures, ${megabytes(last)} MB`);
  }
  const measured =
    `picture_memory, ${pictures} pictures in batches of 32, given back`;
  const growth = last / early;
  return [
    {
      measured,
      subject: "most in the first fifth",
      value: megabytes(early),
      unit: "MB",
    },
    { measured, subject: "most", value: megabytes(most), unit: "MB" },
    {
      measured,
      subject: "at the end",
      value: megabytes(last),
      unit: "MB",
      target: {
        promise: `≤ ${TARGET} of the first fifth`,
        met: growth <= TARGET,
      },
    },
  ];
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

if (import.meta.main) await runAlone(pictureMemoryBenchmark);
