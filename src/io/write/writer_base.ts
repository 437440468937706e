import { WriteError } from "../../base/errors.ts";
import { goOn, runAsync, runSync, type Steps } from "../concurrency/steps.ts";
import { SerialQueue } from "../concurrency/serial_queue.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import type { WaitOptions } from "../storage/byte_source.ts";

/** How a writer ends. */
export interface Ending {
  /** Completes the written data on disk. Can be repeated if it fails. */
  finish(): Steps<void>;
  /** Makes the result appear. Must not be aborted. */
  publish(): Steps<void>;
  /** Closes all files and removes what was not published. */
  letGo(): void;
}

type State = "open" | "closing" | "closed" | "aborted";

/** Base class of writers, which are open until they are closed or aborted. */
export abstract class WriterBase implements Disposable, AsyncDisposable {
  /** Path of the output, as given. */
  readonly path: string;
  /** Called if data is lost because the writer was neither closed nor aborted. Defaults to a warning on the console. */
  onWarning: (message: string) => void = warnOnConsole;
  readonly #ending: Ending;
  readonly #queue: SerialQueue;
  #state: State = "open";
  /** Whether a synchronous operation is running, which calls encoders and iterates lists. */
  #inStep = false;
  /** @ignore Whether something was added that only closing saves. */
  protected isUnsaved = false;
  #closed: Promise<void> | undefined;

  /** @ignore Writers are created by `open`. */
  protected constructor(path: string, ending: Ending) {
    this.path = path;
    this.#ending = ending;
    this.#queue = new SerialQueue(path);
  }

  /**
   * Completes the output, waits until it is on disk, and makes it appear, unless it is written in place. Closing again
   * does nothing. On failure nothing of it remains; output written in place is as it was before.
   *
   * @throws {WriteError} If something is missing, a write that was not awaited has failed, or the system refuses.
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
   * Aborts the writer, unless it is closed. Nothing of the output remains, and what it was to replace is unchanged.
   * Output written in place keeps what was flushed, if anything.
   */
  abort(): void {
    if (this.#state !== "closed" && this.#state !== "aborted") this.#letGo();
  }

  /** Aborts the writer unless it is closed, and warns about lost data. */
  [Symbol.dispose](): void {
    const isLost = this.#state === "open" && this.isUnsaved;
    this.abort();
    // A warning, because an error would hide that of a failed block.
    if (!isLost) return;
    this.onWarning(
      `Cannot keep what was written to ${this.path}: its writer was neither closed nor aborted. ` +
        "Call close() after the last sample, or abort()",
    );
  }

  /** Aborts the writer unless it is closed or closing, and warns about lost data. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "closing") await this.#closed?.catch(() => {});
    this[Symbol.dispose]();
  }

  /** @ignore Whether a write is running or queued. */
  protected get busy(): boolean {
    return this.#queue.busy;
  }

  /**
   * Runs an operation after all earlier ones.
   *
   * @ignore
   * @param adds Whether it adds something; otherwise it saves what was added.
   * @returns The result itself if nothing had to be waited for, because promises take longer than most operations.
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
      return this.#queue.begin(() => Promise.reject(error)); // also fails operations requested right after
    } finally {
      this.#inStep = false;
    }
  }

  /** @ignore {@linkcode WriterBase.run} without waiting. */
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
   * @throws {WriteError} If it is no longer open.
   */
  protected requireOpen(): void {
    if (this.#state === "open") return;
    throw new WriteError(
      "closed",
      this.#state === "aborted"
        ? `Cannot write ${this.path}: its writer was aborted. Open a new one`
        : `Cannot write ${this.path}: its writer is closed. Open a new one`,
      { path: this.path },
    );
  }

  /**
   * @ignore
   * @throws {WriteError} If it is no longer open, or an operation is running.
   */
  protected requireIdle(): void {
    this.requireOpen();
    if (!this.busy && !this.#inStep) return;
    throw new WriteError(
      "busy",
      `Cannot write ${this.path} synchronously: a write is running. Await write() first`,
      { path: this.path },
    );
  }

  /** Replaces failures that the abort caused, by closing files, with the error about the abort. */
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

/** Silences a writer's warning about lost data, for blocks whose own error reports the failure. */
export function untold<W extends WriterBase>(writer: W): W {
  writer.onWarning = () => {};
  return writer;
}
