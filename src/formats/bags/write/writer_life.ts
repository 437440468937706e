import { WriteError } from "../../../errors.ts";
import {
  goOn,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { SerialQueue } from "../../../io/concurrency/serial_queue.ts";

/** How a writer ends. */
export interface Ending {
  /** Completes what is written. */
  finish(): Steps<void>;
  /** Has it appear; not to be given up half-way. */
  publish(): Steps<void>;
  /** Lets go of all files; what did not appear goes. */
  letGo(): void;
}

type State = "open" | "closing" | "closed" | "aborted";

/** The life of a writer: it is open, and is then closed or given up. */
export class WriterLife {
  readonly #path: string;
  readonly #ending: Ending;
  readonly #queue: SerialQueue;
  #state: State = "open";
  /** Whether something is being done without waiting, which calls encoders and iterates lists. */
  #inStep = false;
  #closed: Promise<void> | undefined;

  /** @param path What is written, for errors. */
  constructor(path: string, ending: Ending) {
    this.#path = path;
    this.#ending = ending;
    this.#queue = new SerialQueue(path);
  }

  /** Whether something is being written, or waits. */
  get busy(): boolean {
    return this.#queue.busy;
  }

  /**
   * Does something when all that was asked for before is done.
   *
   * @returns The result itself where nothing had to be waited for, since promises take longer than
   * most of what is done here.
   */
  run<T>(
    work: () => Steps<T>,
    signal: AbortSignal | undefined,
  ): T | Promise<T> {
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

  /** Does something at once. */
  runSync<T>(work: () => Steps<T>): T {
    this.requireOpen();
    this.#requireIdle();
    this.#inStep = true;
    try {
      return runSync(work());
    } finally {
      this.#inStep = false;
    }
  }

  /** Closes the writer; again, it does nothing. */
  close(signal: AbortSignal | undefined): Promise<void> {
    return this.#closed ??= this.#close(signal);
  }

  /** {@linkcode WriterLife.close} without waiting. */
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

  /** Gives the writer up, unless it is closed. */
  abort(): void {
    if (this.#state !== "closed" && this.#state !== "aborted") this.#letGo();
  }

  /** {@linkcode WriterLife.abort}, when closing that is under way has ended. */
  async dispose(): Promise<void> {
    if (this.#state === "closing") await this.#closed?.catch(() => {});
    this.abort();
  }

  /** @throws {WriteError} If it is not open any more. */
  requireOpen(): void {
    if (this.#state === "open") return;
    throw new WriteError(
      "closed",
      this.#state === "aborted"
        ? `${this.#path} was given up: open a new writer`
        : `${this.#path} has been closed: nothing can be added`,
      { path: this.#path },
    );
  }

  #requireIdle(): void {
    if (!this.busy && !this.#inStep) return;
    throw new WriteError(
      "busy",
      `${this.#path} is being written to: await append() before a method that does not wait`,
      { path: this.#path },
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
