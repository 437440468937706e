import { Buffer } from "node:buffer";
import { DataLoader } from "../../../data/loader/data_loader.ts";
import { counted, formatBytes } from "../../terminal/amounts.ts";
import { Progress } from "../../terminal/progress.ts";
import type { OpenedDataset } from "./dataset_of.ts";

/** How loaders are run, and for how long. */
export interface LoaderRunOptions {
  readonly prefetch: number;
  readonly shuffle?: true;
  readonly seed?: number;
  /** How long, where it is not so many batches. */
  readonly seconds?: number;
  readonly batches?: number;
}

/** How long each run takes unless it is said. */
export const SECONDS = 3;

/** What a loader did. */
export interface LoaderRun {
  readonly workers: number;
  readonly batch: number;
  /** How long it took until the first batch was there, threads started. */
  readonly firstBatchSeconds: number;
  /** What came after the first batch, and in which time. */
  readonly batches: number;
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly samplesPerSecond: number;
  /** In units of 10^6 bytes. */
  readonly megabytesPerSecond: number;
}

/**
 * Loads a dataset, epoch after epoch, and measures how fast.
 *
 * @param opened One that has samples.
 */
export async function runLoader(
  { dataset, unit }: OpenedDataset,
  workers: number,
  batch: number,
  options: LoaderRunOptions,
  signal: AbortSignal,
): Promise<LoaderRun> {
  const { seconds: time = SECONDS, batches: wanted } = options;
  const total = wanted === undefined ? undefined : wanted * batch;
  const label = `${counted(workers, "worker")}, batch ${batch}`;
  using bar = new Progress(label, unit, total);
  bar.update(0);
  await using loader = new DataLoader<unknown, unknown[]>(dataset, {
    batchSize: batch,
    numWorkers: workers,
    persistentWorkers: workers > 0,
    prefetchFactor: options.prefetch,
    shuffle: options.shuffle === true,
    seed: options.seed ?? 0,
    collate: false,
    signal,
  });
  const hasTexts = unit === "datapoints"; // elsewhere they are names
  const began = performance.now();
  let first = NaN;
  let seconds = 0; // since the first batch
  let batches = 0;
  let samples = 0;
  let bytes = 0;
  const isOver = () =>
    wanted === undefined ? seconds >= time && batches > 0 : batches >= wanted;
  while (!isOver()) {
    for await (const loaded of loader) {
      const now = performance.now();
      if (Number.isNaN(first)) first = now; // before, threads don't run at full speed
      else {
        batches++;
        samples += loaded.length;
        bytes += bytesIn(loaded, hasTexts);
        seconds = (now - first) / 1000;
        bar.update(samples, total, `${formatBytes(bytes / seconds)}/s`);
      }
      loader.recycle(loaded);
      if (isOver()) break;
    }
  }
  return {
    workers,
    batch,
    firstBatchSeconds: (first - began) / 1000,
    batches,
    samples,
    bytes,
    seconds,
    samplesPerSecond: samples / seconds,
    megabytesPerSecond: bytes / 1e6 / seconds,
  };
}

/** Bytes of the arrays in samples, and of the texts: what was read, or decoded. */
function bytesIn(value: unknown, hasTexts: boolean): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value === "string" && hasTexts) return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, part) => sum + bytesIn(part, hasTexts),
    0,
  );
}
