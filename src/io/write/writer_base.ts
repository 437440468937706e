import { WriteError } from "../../base/errors.ts";
import { goOn, runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { SerialQueue } from "../concurrency/serial_queue.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { WaitOptions } from "../storage/byte_source.ts";

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

/** The base of writers: they are open, and are then closed or given up. */
export abstract class WriterBase implements Disposable, AsyncDisposable {
  /** Where it writes, as it was given. */
  readonly path: string;
  /** Told if what was written is lost because the writer was neither closed nor given up; the console unless set. */
  onWarning: (message: string) => void = warnOnConsole;
  readonly #append: string;
  readonly #ending: Ending;
  readonly #queue: SerialQueue;
  #state: State = "open";
  /** Something is being done without waiting, which calls encoders and iterates lists. */
  #inStep = false;
  /** @ignore Whether something was added that only closing keeps. */
  protected isUnsaved = false;
  #closed: Promise<void> | undefined;

  /**
   * @ignore Writers are made by `open`.
   * @param append Name of the method that adds something, for errors.
   */
  protected constructor(path: string, append: string, ending: Ending) {
    this.path = path;
    this.#append = append;
    this.#ending = ending;
    this.#queue = new SerialQueue(path);
  }

  /**
   * Completes what is written, waits until it is on the disk, and has it appear, unless it is written
   * in its place. Closing again does nothing. If it fails, nothing is left of it; of what is written
   * in its place, what was there before.
   *
   * @throws {WriteError} If something is missing, a write that was not awaited has failed, or the
   * system refuses.
   */
  close(options: WaitOptions = {}): Promise<void> {
    return this.#closed ??= this.#close(options.signal);
  }

  /** {@linkcode WriterBase.close} without waiting. */
  closeSync(): void {
    if (this.#state === "closed") return;
    this.requireIdle();
    try {
      runSync(this.#ending.finish());
      runSync(this.#ending.publish());
      this.#state = "closed";
    } finally {
      this.#letGo();
    }
  }

  /**
   * Gives the writer up, unless it is closed: nothing remains of what it has begun, and what was to be
   * replaced is as it was. Of what is written in its place, that remains which was flushed, if anything.
   */
  abort(): void {
    if (this.#state !== "closed" && this.#state !== "aborted") this.#letGo();
  }

  /** Aborts, unless it is closed; what is lost by that is told of. */
  [Symbol.dispose](): void {
    const isLost = this.#state === "open" && this.isUnsaved;
    this.abort();
    // No error: it would hide that of a block that has failed.
    if (!isLost) return;
    this.onWarning(
      `Cannot keep what was written to ${this.path}: its writer was neither closed nor given up. ` +
        "Call close() behind the last sample, or abort()",
    );
  }

  /** Aborts, unless it is closed or about to be; what is lost by that is told of. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "closing") await this.#closed?.catch(() => {});
    this[Symbol.dispose]();
  }

  /** @ignore Whether something is being written, or waits. */
  protected get busy(): boolean {
    return this.#queue.busy;
  }

  /**
   * Does something when all that was asked for before is done.
   *
   * @ignore
   * @param adds Whether it adds something; otherwise it saves what was added.
   * @returns The result itself where nothing had to be waited for, since promises take longer than
   * most of what is done here.
   */
  protected run<T>(
    work: () => Steps<T>,
    signal: AbortSignal | undefined,
    adds = true,
  ): T | Promise<T> {
    this.requireOpen();
    this.isUnsaved = adds;
    if (this.busy) {
      return this.#queue.take(() => {
        if (this.#state === "aborted") this.requireOpen();
        return this.#unlessGivenUp(runAsync(work(), signal));
      });
    }
    this.requireIdle();
    const steps = work();
    this.#inStep = true;
    try {
      const step = steps.next();
      if (step.done) return step.value;
      return this.#queue.begin(() =>
        this.#unlessGivenUp(goOn(steps, step, signal))
      );
    } catch (error) {
      return this.#queue.begin(() => Promise.reject(error)); // fails what is asked for right after
    } finally {
      this.#inStep = false;
    }
  }

  /** @ignore Does something at once; as {@linkcode WriterBase.run}. */
  protected runSync<T>(work: () => Steps<T>, adds = true): T {
    this.requireIdle();
    this.isUnsaved = adds;
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

  /**
   * @ignore
   * @throws {WriteError} If it is not open any more, or something is under way.
   */
  protected requireIdle(): void {
    this.requireOpen();
    if (!this.busy && !this.#inStep) return;
    throw new WriteError(
      "busy",
      `${this.path} is being written to: await ${this.#append}() before a method that does not wait`,
      { path: this.path },
    );
  }

  /** What fails since the writer was given up meanwhile, and its files with it, fails for that. */
  async #unlessGivenUp<T>(written: Promise<T>): Promise<T> {
    try {
      return await written;
    } catch (error) {
      if (this.#state === "aborted") this.requireOpen();
      throw error;
    }
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

/** Has a writer not tell of what is lost with it: where its block fails, the error says so. */
export function untold<W extends WriterBase>(writer: W): W {
  writer.onWarning = () => {};
  return writer;
}
