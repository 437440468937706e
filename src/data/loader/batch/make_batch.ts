import { messageOf } from "../../../base/message_text.ts";
import { isDamagedSample, type SkippedSample } from "../skipped_samples.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import type { BatchMemory } from "../../batch_memory.ts";
import { DataError } from "../../data_error.ts";
import {
  type Dataset,
  type GetOptions,
  miscounted,
  STACK,
  tellDataset,
} from "../../dataset.ts";
import { type BatchError, batchError, type BatchJob } from "../batch_error.ts";
import type { Collate } from "../loader_options.ts";
import { stackSamples } from "./stack_samples.ts";

export interface ReadBatch {
  readonly samples: readonly unknown[];
  readonly skipped: readonly SkippedSample[];
}

export interface BatchMakerOptions {
  /** `undefined` stacks samples, `false` leaves a list. */
  readonly collate: Collate | false | undefined;
  readonly seed: number;
  readonly skips: boolean;
  readonly worker?: number | undefined;
}

/** Makes batches, in the caller's thread or a worker. */
export class BatchMaker {
  readonly #dataset: Dataset<unknown>;
  readonly #collate: Collate;
  readonly #seed: number;
  readonly #skips: boolean;
  readonly #worker: number | undefined;

  constructor(
    dataset: Dataset<unknown>,
    { collate, seed, skips, worker }: BatchMakerOptions,
  ) {
    this.#dataset = dataset;
    this.#collate = collate ||
      (collate === false
        ? (samples) => [...samples]
        : (samples, { memory }) => stackSamples(samples, memory));
    this.#seed = seed;
    this.#skips = skips;
    this.#worker = worker;
  }

  /** Sends the dataset a prefetch hint for a batch. Returns the approximate number of bytes to fetch. */
  prefetch({ epoch, indices }: Omit<BatchJob, "step">): number {
    return tellDataset(this.#dataset, indices, { seed: this.#seed, epoch });
  }

  /**
   * Reads the samples of a batch into `memory`, or into their own if there is none. Samples may be written to
   * `stack`, the memory of {@linkcode collate}, directly.
   */
  async read(
    job: BatchJob,
    memory: BatchMemory | undefined,
    stack: BatchMemory,
    signal: AbortSignal,
  ): Promise<ReadBatch> {
    const { epoch, indices } = job;
    const options = { seed: this.#seed, epoch, signal };
    let samples: readonly unknown[];
    try {
      samples = await this.#dataset.get(indices, {
        ...options,
        memory,
        [STACK]: stack,
      });
    } catch (error) {
      signal.throwIfAborted();
      return await this.#readEach(job, options, error);
    }
    const wrong = miscounted(samples, indices);
    if (wrong === undefined) return { samples, skipped: [] };
    throw batchError(
      "bad-batch",
      `${this.#dataset.constructor.name}.get returned ${wrong}. It must ` +
        "return one for each index",
      job,
      { worker: this.#worker, expected: indices.length, actual: samples },
    );
  }

  /** Collates samples to a batch; stacks numbers in `memory`. */
  async collate(
    samples: readonly unknown[],
    job: BatchJob,
    memory: BatchMemory,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      const batch = this.#collate(samples, { memory });
      return batch instanceof Promise ? await abortable(batch, signal) : batch;
    } catch (cause) {
      signal.throwIfAborted();
      throw batchError(
        "bad-batch",
        `its samples cannot be collated: ${messageOf(cause)}`,
        job,
        { worker: this.#worker, cause },
      );
    }
  }

  /** Reads the samples of a batch one by one, to skip damaged ones or to find the one that the error is about. */
  async #readEach(
    job: BatchJob,
    options: GetOptions & { readonly signal: AbortSignal },
    error: unknown,
  ): Promise<ReadBatch> {
    const samples: unknown[] = [];
    const skipped: SkippedSample[] = [];
    const isAlone = job.indices.length === 1; // it has already failed
    for (const index of job.indices) {
      try {
        if (isAlone) throw error;
        samples.push(...await this.#dataset.get([index], options));
      } catch (own) {
        options.signal.throwIfAborted();
        if (!this.#skips || !isDamagedSample(own)) {
          throw this.#readFailed(job, options, own, index);
        }
        const path = this.#fileOf(index, options) ?? pathIn(own);
        skipped.push({ sample: index, path, message: messageOf(own) });
      }
    }
    if (skipped.length > 0) return { samples, skipped };
    throw this.#readFailed(job, options, error);
  }

  #readFailed(
    job: BatchJob,
    options: GetOptions,
    cause: unknown,
    sample?: number,
  ): BatchError {
    const path = this.#fileOf(sample, options) ?? pathIn(cause);
    return batchError(
      "sample-failed",
      whyOf(cause, sample, path),
      job,
      { worker: this.#worker, sample, path, cause },
    );
  }

  #fileOf(
    sample: number | undefined,
    options: GetOptions,
  ): string | undefined {
    if (sample === undefined) return undefined;
    try {
      return this.#dataset.fileOf(sample, options);
    } catch {
      return undefined; // the index is invalid, which the error is about
    }
  }
}

/** Returns why a batch cannot be loaded. Names sample and file once, here or in the cause. */
function whyOf(
  cause: unknown,
  sample: number | undefined,
  path: string | undefined,
): string {
  const reason = messageOf(cause);
  if (sample === undefined) {
    return `each of its samples loads, but not all together: ${reason}`;
  }
  const saysPath = path === undefined || reason.includes(path);
  const saysSample = cause instanceof DataError &&
    cause.code === "sample-failed" && cause.sample === sample;
  if (saysSample && saysPath) return reason;
  const file = saysPath ? "" : ` of ${path}`;
  return `sample ${sample}${file} cannot be loaded: ${
    saysSample && cause.cause !== undefined ? messageOf(cause.cause) : reason
  }`;
}

function pathIn(error: unknown): string | undefined {
  const path = (error as { path?: unknown } | null | undefined)?.path;
  return typeof path === "string" ? path : undefined;
}
