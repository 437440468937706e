import { Buffer } from "node:buffer";
import { DataLoader } from "../../../data/loader/data_loader.ts";
import { counted, formatBytes } from "../../terminal/amounts.ts";
import { Progress } from "../../terminal/progress.ts";
import type { OpenedDataset } from "./dataset_of.ts";

export interface LoaderRunOptions {
  readonly prefetch: number;
  readonly shuffle?: true;
  readonly seed?: number;
  /** Duration, unless `batches` is given. */
  readonly seconds?: number;
  readonly batches?: number;
}

/** Default duration of a run in seconds. */
export const SECONDS = 3;

export interface LoaderRun {
  readonly workers: number;
  readonly batch: number;
  /** Time until the first batch, including the start of threads. */
  readonly firstBatchSeconds: number;
  /** Totals after the first batch, and their duration. */
  readonly batches: number;
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly samplesPerSecond: number;
  /** In units of 10^6 bytes. */
  readonly megabytesPerSecond: number;
}

/** Loads a dataset, which must have samples, repeatedly, and measures the rate. */
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
  const hasTexts = unit === "datapoints"; // in other formats, strings are names
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
      if (Number.isNaN(first)) first = now; // measure from the first batch: before, threads do not run at full speed
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

/** Bytes of the arrays and texts in samples, as read or decoded. */
function bytesIn(value: unknown, hasTexts: boolean): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value === "string" && hasTexts) return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, part) => sum + bytesIn(part, hasTexts),
    0,
  );
}
