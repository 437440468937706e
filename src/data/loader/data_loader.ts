import type { Dataset } from "../dataset.ts";
import { isDataset } from "../datasets/dataset_from.ts";
import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { SkippedSamples } from "./skipped_samples.ts";
import type { BatchOrder } from "../samplers/sampler.ts";
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
 * Loads a dataset in batches, in the caller's thread or in others (Python's `ffrecord.torch.DataLoader`,
 * PyTorch's `DataLoader`).
 *
 * A loop over it is one epoch: from `step`, which is 0 unless it was set, to the end; the next loop is the
 * next epoch. A loop that is left early ends its epoch, as in PyTorch; but `save()`, called in the loop
 * or before the next one, leads to exactly the next batch of the epoch that was left. Which samples
 * make which batch follows from the seed and the epoch alone: it is the same on every machine and with
 * any number of threads.
 *
 * Whatever fails, a loop throws when it comes to the batch concerned, and all threads end. The loader can be
 * used again: by the next loop for the next epoch, or after `setStep` for the rest of this one.
 *
 * @typeParam T What one sample is.
 * @typeParam B What one batch is: what `collate` makes, unless given {@linkcode Collated}.
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
  /** True if a loop of this epoch was left, so that the next one is the next epoch's. */
  #isLeft = false;
  /** The loop that is under way. */
  #loop: Batches | undefined;
  /** Samples that all loops have left out. */
  #skipped = 0;
  /** Ends when loops that were asked for have begun. */
  #begun: Promise<unknown> = Promise.resolve();
  /** Ends when loops that were left have stopped. */
  #ending: Promise<void> = Promise.resolve();

  /**
   * Makes a loader; nothing is read before the first loop.
   *
   * @param dataset What to load; it stays the caller's to close.
   * @throws {TypeError} If it is no dataset, or one option excludes another.
   * @throws {RangeError} If one is out of its range.
   * @throws {DataError} With code `not-portable` if threads are asked for that cannot make the dataset.
   */
  constructor(dataset: Dataset<T>, options: LoaderOptions<T, B> = {}) {
    requireDataset(dataset);
    this.#settings = settingsOf(options);
    const { length, shardLengths } = dataset;
    this.#lengths = { length, shardLengths };
    this.#plan = planBatches(this.#settings, length);
    this.#loading = new BatchLoading(dataset, this.#settings);
  }

  /** Number of batches left in the epoch, from `step` on; `Infinity` where it never ends. */
  get length(): number {
    return this.#batches.length - this.#step;
  }

  /** The epoch of the next batch; in a loop, that of the loop. */
  get epoch(): number {
    return this.#epoch;
  }

  /** How many damaged samples the loops so far have left out, as the option `onDamage` says. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The next batch's place in its epoch: how many batches of it have been handed out or passed over. */
  get step(): number {
    return this.#step;
  }

  /**
   * Has the next loop be that of an epoch: from its first batch, or from `step` if it is the epoch that the
   * loader is at. A loop that is under way ends.
   *
   * @throws {RangeError} If it is not a whole number from 0 on.
   */
  setEpoch(epoch: number): void {
    wholeNumber(epoch, 0, "epoch");
    const stays = epoch === this.#epoch && !this.#isLeft;
    this.#moveTo(epoch, stays ? this.#step : 0);
  }

  /**
   * Has the next loop begin at a batch of the epoch (Python's `set_step`), which costs the same wherever it
   * is. A loop that is under way ends.
   *
   * @throws {RangeError} If the epoch has no such batch.
   */
  setStep(step: number): void {
    if (step !== 0) checkPosition(step, this.#batches.length, "step");
    this.#moveTo(this.#epoch, step);
  }

  /** Where the loader is: plain data to keep with a checkpoint. */
  save(): LoaderState {
    const position = { epoch: this.#epoch, step: this.#step };
    return stateOf(position, this.#settings, this.#lengths, this.#plan);
  }

  /**
   * Has the next loop begin where a loader was that has saved its state; the number of threads need not be
   * the same. A loop that is under way ends.
   *
   * @throws {DataError} With code `bad-state` if it is no state, or that of a loader of another dataset,
   * or with other options that the order follows from.
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
   * Gives a batch's memory back, to be loaded into: that saves the clearing of new memory, which takes
   * as long as reading into it. The batch is not looked at any more: its arrays are empty from now on, or, in
   * shared memory, those of a later batch.
   *
   * Memory that is not the loader's is left alone: a dataset's, and, without threads, that of batches
   * which were loaded before the first call. What samples were read into is used again as well, so
   * what `process` keeps of them it must copy.
   */
  recycle(batch: B): void {
    this.#loading.recycle(batch);
  }

  /** The batches of an epoch. */
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
        isSound = false; // until there is another batch, or the end
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

  /** Ends a loop that is under way, and the threads. The loader can be used again. */
  async close(): Promise<void> {
    this.#leave(true);
    await this.#begun; // a loop that was asked for would start threads behind our back
    this.#leave(true);
    await this.#ending;
    await this.#loading.close();
  }

  /** {@linkcode DataLoader.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The batches of the epoch that the loader is at. */
  get #batches(): BatchOrder {
    return this.#plan.batches(this.#epoch);
  }

  /** Begins a loop, when those that were begun before have. */
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
    if (isMoved) this.#moveTo(this.#epoch, this.#step); // meanwhile
    this.#refuseEnded(loop);
    return loop;
  }

  /** The next batch of a loop, unless the loop has ended meanwhile. */
  async #nextOf(loop: Batches): Promise<Delivered> {
    try {
      return await loop.next();
    } finally {
      this.#refuseEnded(loop); // rather than what became of the waiting
    }
  }

  /**
   * Leaves the loop that is under way.
   *
   * @param isSound Whether nothing has failed, so that threads may live on.
   */
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
      "This loop over the loader has ended, since another one was begun, or the loader was closed or set to " +
        "another place: begin a new loop",
    );
  }
}

/** Said here, since programs run without a check of types would hear of it far from here. */
function requireDataset(dataset: Dataset<unknown>): void {
  if (isDataset(dataset)) return;
  const why = dataset as unknown instanceof Promise
    ? "it is a promise of one: await it"
    : "give an object with length and get(indices), as FFRecordDataset.open() makes it";
  throw new TypeError(`There is no dataset to load: ${why}`);
}
