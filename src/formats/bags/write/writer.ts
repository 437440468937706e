import { WriteError } from "../../../errors.ts";
import {
  goOn,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { SerialQueue } from "../../../io/concurrency/serial_queue.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Generation } from "../dataset/dataset_names.ts";

/** Options of the writers' `flush`. */
export interface FlushOptions {
  /** Waits until it is on the disk; not unless given. */
  readonly sync?: boolean | undefined;
}

/** The place that a writer writes to. */
export interface WriterOutput {
  /** The number of what was appended, that among it that was there before. */
  readonly length: number;
  /** Bytes of all bags and their indexes. */
  readonly size: number;
  /** Writes what was gathered; with `sync`, waits until it is on the disk. */
  flush(sync: boolean): Steps<void>;
}

/** The end of a writer. */
export interface Ending {
  /** Completes what is written, on the disk. If it fails it can be done again. */
  finish(): Steps<void>;
  /** Has it appear; not to be given up half-way. */
  publish(): Steps<void>;
  /** Lets go of all files; what did not appear goes. */
  letGo(): void;
}

type State = "open" | "closing" | "closed" | "aborted";

/** The base of the writers of bags and of datasets: they are open, and are then closed or given up. */
export abstract class Writer implements Disposable, AsyncDisposable {
  /** Where it writes, as it was given. */
  readonly path: string;
  /** The form of what is written. */
  readonly generation: Generation;
  readonly #output: WriterOutput;
  readonly #ending: Ending;
  readonly #queue: SerialQueue;
  #state: State = "open";
  /** Something is being done without waiting, which calls encoders and iterates lists. */
  #inStep = false;
  #closed: Promise<void> | undefined;

  /** @ignore Writers are made by `open`. */
  protected constructor(
    path: string,
    generation: Generation,
    output: WriterOutput,
    ending: Ending,
  ) {
    this.path = path;
    this.generation = generation;
    this.#output = output;
    this.#ending = ending;
    this.#queue = new SerialQueue(path);
  }

  /** Number of records or datapoints so far, of all shards, those among them that were there before. */
  get length(): number {
    return this.#output.length;
  }

  /** Bytes of all bags and their indexes, those of `refs.bag` included. */
  get size(): number {
    return this.#output.size;
  }

  /**
   * Writes what was gathered. In generation 3, readers find it then, and it outlives the process;
   * with `sync` also a loss of power.
   *
   * @throws {WriteError} If the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async flush({ sync = false, signal }: FlushOptions & WaitOptions = {}): //
  Promise<void> {
    return this.run(() => this.#output.flush(sync), signal);
  }

  /** {@linkcode Writer.flush} without waiting. */
  flushSync({ sync = false }: FlushOptions = {}): void {
    this.runSync(() => this.#output.flush(sync));
  }

  /**
   * Completes the bag, the dataset or its last shard, and waits until it is on the disk. Closing
   * again does nothing. If it fails, nothing is left of it in generations 1 and 2, and in generation
   * 3 what was written before.
   *
   * @throws {WriteError} If an append that was not awaited has failed, or the system refuses.
   */
  close(options: WaitOptions = {}): Promise<void> {
    return this.#closed ??= this.#close(options.signal);
  }

  /** {@linkcode Writer.close} without waiting. */
  closeSync(): void {
    if (this.#state === "closed") return;
    this.requireOpen();
    this.#requireIdle();
    try {
      runSync(this.#ending.finish());
      runSync(this.#ending.publish());
      this.#state = "closed";
    } finally {
      this.#letGo();
    }
  }

  /**
   * Gives the writer up, unless it is closed: in generations 1 and 2 nothing remains of the bag, the
   * dataset or its last shard, in generation 3 what was written; what was only gathered is lost, and
   * of a dataset nothing remains where nothing was written and nothing was there before.
   */
  abort(): void {
    if (this.#state !== "closed" && this.#state !== "aborted") this.#letGo();
  }

  /** Aborts, unless it is closed. */
  [Symbol.dispose](): void {
    this.abort();
  }

  /** Aborts, unless it is closed or about to be. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "closing") await this.#closed?.catch(() => {});
    this.abort();
  }

  /** @ignore Whether something is being written, or waits. */
  protected get busy(): boolean {
    return this.#queue.busy;
  }

  /**
   * Does something when all that was asked for before is done.
   *
   * @ignore
   * @returns The result itself where nothing had to be waited for, since promises take longer than
   * most of what is done here.
   */
  protected run<T>(
    work: () => Steps<T>,
    signal: AbortSignal | undefined,
  ): T | Promise<T> {
    this.requireOpen();
    if (this.busy) {
      return this.#queue.take(() => {
        if (this.#state === "aborted") this.requireOpen();
        return runAsync(work(), signal);
      });
    }
    this.#requireIdle();
    const steps = work();
    this.#inStep = true;
    try {
      const step = steps.next();
      if (step.done) return step.value;
      return this.#queue.begin(() => goOn(steps, step, signal));
    } catch (error) {
      return this.#queue.begin(() => Promise.reject(error)); // fails what is asked for right after
    } finally {
      this.#inStep = false;
    }
  }

  /** @ignore Does something at once. */
  protected runSync<T>(work: () => Steps<T>): T {
    this.requireOpen();
    this.#requireIdle();
    this.#inStep = true;
    try {
      return runSync(work());
    } finally {
      this.#inStep = false;
    }
  }

  /**
   * @ignore
   * @throws {WriteError} If it is not open any more.
   */
  protected requireOpen(): void {
    if (this.#state === "open") return;
    throw new WriteError(
      "closed",
      this.#state === "aborted"
        ? `${this.path} was given up: open a new writer`
        : `${this.path} has been closed: nothing can be added`,
      { path: this.path },
    );
  }

  #requireIdle(): void {
    if (!this.busy && !this.#inStep) return;
    throw new WriteError(
      "busy",
      `${this.path} is being written to: await append() before a method that does not wait`,
      { path: this.path },
    );
  }

  async #close(signal: AbortSignal | undefined): Promise<void> {
    if (this.#state === "closed") return;
    this.requireOpen();
    this.#state = "closing";
    try {
      await this.#queue.take(async () => {
        await runAsync(this.#ending.finish(), signal);
        await runAsync(this.#ending.publish());
        this.#state = "closed";
      });
    } finally {
      this.#letGo();
    }
  }

  #letGo(): void {
    if (this.#state !== "closed") this.#state = "aborted";
    this.#ending.letGo();
  }
}
