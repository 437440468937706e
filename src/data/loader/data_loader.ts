import type { Dataset } from "../dataset.ts";
import { isDataset } from "../datasets/dataset_from.ts";
import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { SkippedSamples } from "./skipped_samples.ts";
import type { Order } from "../samplers/sampler.ts";
import { BatchLoading } from "./batch_loading.ts";
import { type BatchPlan, planBatches } from "./batch_plan.ts";
import type { Batches, Delivered } from "./batches.ts";
import type { Collated } from "./batch/collate.ts";
import {
  type LoaderOptions,
  type LoaderSettings,
  settingsOf,
} from "./loader_options.ts";
import {
  badState,
  type DatasetLengths,
  type LoaderState,
  positionOf,
  stateOf,
} from "./loader_state.ts";

/**
 * Loads a dataset in batches, in the caller's thread or in worker threads (Python's `ffrecord.torch.DataLoader`,
 * PyTorch's `DataLoader`).
 *
 * A loop over the loader is one epoch, from `step` (0 unless set) to the end; the next loop is the next epoch.
 * Leaving a loop early ends its epoch, as in PyTorch. But a state that `save()` returns in the loop, or before the
 * next one, continues with exactly the next batch of that epoch. The seed and the epoch alone determine which
 * samples make which batch, on every machine and with any number of threads.
 *
 * On any failure, the loop throws when it reaches the failed batch, and all threads end. The loader stays usable:
 * the next loop loads the next epoch, or, after `setStep`, the rest of this one.
 *
 * @typeParam T What one sample is.
 * @typeParam B What one batch is: the result of `collate`, by default {@linkcode Collated}.
 *
 * @example Train for some epochs
 * ```ts
 * import { DataLoader, FFRecordDataset } from "@recordfs/recordfs/data";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * await using loader = new DataLoader(dataset, { batchSize: 16, shuffle: true, numWorkers: 2 });
 * while (loader.epoch < 3) {
 *   for await (const batch of loader) {
 *     console.assert(batch.length <= 16); // train on it
 *   }
 * }
 * ```
 *
 * @example Stop, and continue elsewhere with the next batch
 * ```ts
 * import { DataLoader, FFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * const options = { batchSize: 4, shuffle: true, seed: 42 };
 * const loader = new DataLoader(dataset, options);
 * let checkpoint = "";
 * for await (const _batch of loader) {
 *   checkpoint = JSON.stringify(loader.save());
 *   if (loader.step === 3) break;
 * }
 *
 * const other = new DataLoader(dataset, options);
 * other.load(JSON.parse(checkpoint));
 * assert.equal(other.step, 3);
 * ```
 */
export class DataLoader<T, B = Collated<T>>
  implements AsyncIterable<B>, AsyncDisposable {
  readonly #lengths: DatasetLengths;
  readonly #settings: LoaderSettings;
  readonly #plan: BatchPlan;
  readonly #loading: BatchLoading;
  #epoch = 0;
  #step = 0;
  /** Whether a loop of this epoch was left, so that the next loop is the next epoch's. */
  #isLeft = false;
  #loop: Batches | undefined;
  #skipped = 0;
  /** Settles when all requested loops have begun. */
  #begun: Promise<unknown> = Promise.resolve();
  /** Settles when all loops that were left have stopped. */
  #ending: Promise<void> = Promise.resolve();

  /**
   * Makes a loader. Reads nothing before the first loop.
   *
   * @param dataset Dataset to load; the caller closes it.
   * @throws {TypeError} If `dataset` is not a dataset, or options exclude each other.
   * @throws {RangeError} If an option is out of range.
   * @throws {DataError} With code `not-portable` if worker threads are requested that cannot construct the dataset.
   */
  constructor(dataset: Dataset<T>, options: LoaderOptions<T, B> = {}) {
    requireDataset(dataset);
    this.#settings = settingsOf(options);
    const { length, shardLengths } = dataset;
    this.#lengths = { length, shardLengths };
    this.#plan = planBatches(this.#settings, length);
    this.#loading = new BatchLoading(dataset, this.#settings);
  }

  /** Number of batches left in the epoch, from `step` on; `Infinity` if it never ends. */
  get length(): number {
    return this.#batches.length - this.#step;
  }

  /** Epoch of the next batch; in a loop, the loop's epoch. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Number of damaged samples that the loops so far have skipped, with the option `onDamage`. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Position of the next batch in its epoch: the number of batches delivered or passed over. */
  get step(): number {
    return this.#step;
  }

  /**
   * Sets the epoch of the next loop, which starts at its first batch, or at `step` if the loader is already in that
   * epoch. Ends the current loop.
   *
   * @throws {RangeError} If `epoch` is not a whole number ≥ 0.
   */
  setEpoch(epoch: number): void {
    wholeNumber(epoch, 0, "epoch");
    const stays = epoch === this.#epoch && !this.#isLeft;
    this.#moveTo(epoch, stays ? this.#step : 0);
  }

  /**
   * Sets the batch at which the next loop starts (Python's `set_step`), at the same cost for any batch. Ends the
   * current loop.
   *
   * @throws {RangeError} If the epoch has no such batch.
   */
  setStep(step: number): void {
    if (step !== 0) checkPosition(step, this.#batches.length, "step");
    this.#moveTo(this.#epoch, step);
  }

  /** Returns the loader's state: plain data to store with a checkpoint. */
  save(): LoaderState {
    const position = { epoch: this.#epoch, step: this.#step };
    return stateOf(position, this.#settings, this.#lengths, this.#plan);
  }

  /**
   * Restores a saved state: the next loop starts where that loader was. The number of threads may differ. Ends the
   * current loop.
   *
   * @throws {DataError} With code `bad-state` if `state` is not a state, or is that of a loader of another dataset
   * or with other options that determine the order.
   */
  load(state: LoaderState): void {
    const { epoch, step } = positionOf(state, this.save(), this.#plan);
    const { length } = this.#plan.batches(epoch);
    if (step > length) {
      const why = `epoch ${epoch} has ${length} batches`;
      throw badState(why, { step: length }, state);
    }
    this.#moveTo(epoch, step);
  }

  /**
   * Gives a batch's memory back to the loader, which reuses it for later batches. This saves the clearing of new
   * memory, which takes as long as reading into it. The batch must not be used any more: its arrays become empty
   * or, in shared memory, those of a later batch.
   *
   * Ignores memory that is not the loader's: a dataset's, and, without threads, that of batches loaded before the
   * first call. The memory that samples were read into is reused too, so `process` must copy what it keeps of them.
   */
  recycle(batch: B): void {
    this.#loading.recycle(batch);
  }

  /** Iterates over the batches of an epoch. */
  async *[Symbol.asyncIterator](): AsyncGenerator<B, void, undefined> {
    const { signal, onWarning = warnOnConsole } = this.#settings;
    const loop = await this.#begin();
    const skipped = new SkippedSamples(onWarning);
    let isOver = false;
    let isSound = false;
    try {
      while (this.#step < this.#batches.length) {
        signal?.throwIfAborted();
        const delivered = await this.#nextOf(loop);
        this.#step++;
        this.#skipped += delivered.skipped.length;
        skipped.add(delivered.skipped);
        if (delivered.skipped.length > 0 && delivered.batch === undefined) {
          continue;
        }
        isSound = true;
        yield this.#loading.deliver(delivered) as B;
        isSound = false; // until the next batch or the end
        this.#refuseEnded(loop);
      }
      isOver = isSound = true;
    } finally {
      skipped.end(this.#epoch);
      if (loop === this.#loop) {
        const ended = this.#leave(isSound);
        if (isOver) this.#moveTo(this.#epoch + 1, 0);
        if (signal?.aborted !== true) await ended;
      }
    }
  }

  /** Ends the current loop and the threads. The loader stays usable. */
  async close(): Promise<void> {
    this.#leave(true);
    await this.#begun; // a requested loop would start threads later
    this.#leave(true);
    await this.#ending;
    await this.#loading.close();
  }

  /** Closes the loader at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #batches(): Order<number[]> {
    return this.#plan.batches(this.#epoch);
  }

  /** Begins a loop after the loops requested before. */
  #begin(): Promise<Batches> {
    const begun = this.#begun.then(() => this.#beginNow());
    this.#begun = begun.catch(() => {});
    return begun;
  }

  async #beginNow(): Promise<Batches> {
    this.#leave(true);
    if (this.#isLeft) this.#moveTo(this.#epoch + 1, 0);
    this.#settings.signal?.throwIfAborted();
    await this.#ending;
    const epoch = this.#epoch;
    const step = this.#step;
    const start = { order: this.#batches, epoch, step };
    const loop = await this.#loading.begin(start);
    this.#loop = loop;
    const isMoved = epoch !== this.#epoch || step !== this.#step;
    if (isMoved) this.#moveTo(this.#epoch, this.#step); // moved while the loop began
    this.#refuseEnded(loop);
    return loop;
  }

  /** Returns the next batch of a loop, unless the loop ended meanwhile. */
  async #nextOf(loop: Batches): Promise<Delivered> {
    try {
      return await loop.next();
    } finally {
      this.#refuseEnded(loop); // takes precedence over the outcome
    }
  }

  /** Leaves the current loop. If `isSound`, nothing has failed and threads may stay alive. */
  #leave(isSound: boolean): Promise<void> {
    const loop = this.#loop;
    if (loop === undefined) return this.#ending;
    this.#loop = undefined;
    this.#isLeft = true;
    const keep = isSound && this.#settings.persistentWorkers;
    const ended = loop.end(keep);
    this.#ending = this.#ending.then(() => ended);
    return ended;
  }

  #moveTo(epoch: number, step: number): void {
    this.#leave(true);
    this.#epoch = epoch;
    this.#step = step;
    this.#isLeft = false;
  }

  #refuseEnded(loop: Batches): void {
    if (loop === this.#loop) return;
    throw new TypeError(
      "Cannot continue this loop over the loader: another one was begun, or the loader " +
        "was closed or set to another place. Begin a new loop",
    );
  }
}

/** Checks the dataset early: without type checking, the mistake would surface far from here. */
function requireDataset(dataset: Dataset<unknown>): void {
  if (isDataset(dataset)) return;
  const why = dataset as unknown instanceof Promise
    ? "it is a promise of one. Await it"
    : "there is none. Give an object with length and get(indices), such as " +
      "FFRecordDataset.open() makes";
  throw new TypeError(`Cannot load without a dataset: ${why}`);
}
