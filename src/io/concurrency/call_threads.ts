import { RecordfsError } from "../../base/errors.ts";
import {
  deserializeError,
  type SerializedError,
} from "../../base/serialized_error.ts";
import { abortable } from "./abortable.ts";
import { type BoundedThread, startBoundedThread } from "./thread.ts";

/** A call for a thread: an export of a module that returns bytes, which become the caller's. */
export interface Call {
  readonly module: string;
  readonly name: string;
  /** Arguments that survive `postMessage`. */
  readonly args: readonly unknown[];
  /** Buffers among the arguments that are moved to the thread, not copied. */
  readonly transfer: readonly ArrayBuffer[];
}

/** Message to a thread of {@linkcode CallThreads}. */
export type CallTask = Omit<Call, "transfer"> & {
  /** Memory whose first word is 1 while the call runs. */
  readonly busy: SharedArrayBuffer;
};

/** Message from a thread of {@linkcode CallThreads}. */
export type CallReport =
  | { readonly kind: "begun" }
  | { readonly kind: "result"; readonly result: Uint8Array<ArrayBuffer> }
  | { readonly kind: "failed"; readonly error: SerializedError };

/** Limits of {@linkcode CallThreads}. */
export interface CallLimits {
  /** Number of threads. All but one take long calls. */
  readonly threads: number;
  /** Calls that may wait for a thread. */
  readonly waiting: number;
  /** Timeout of a call, and of loading its module before, in milliseconds. After it, the thread is terminated. */
  readonly timeout: number;
  /** Heap size of a thread, in megabytes. */
  readonly memory: number;
}

/** Time in milliseconds after which an idle thread is terminated to free its memory. */
const IDLE = 10_000;
/** Time in milliseconds for which a terminated thread counts as running, unless it reports earlier that it ended. */
const LOST = 120_000;

/** Failure of a call other than an error of its own code: timeout, out of memory, or too many waiting. */
export class CallError extends RecordfsError<"busy" | "died" | "timeout"> {}

interface WaitingCall {
  readonly isLong: boolean;
  begin(): void;
}

/** Thread pool for calls that may take long. Threads start on demand, with limits on number, time and memory. */
export class CallThreads {
  readonly #name: string;
  readonly #limits: CallLimits;
  readonly #idle: CallThread[] = [];
  readonly #all = new Set<CallThread>();
  /** Terminated threads that may still be running. */
  #lost: { readonly busy: Int32Array; readonly until: number }[] = [];
  #waiting: WaitingCall[] = [];
  #under = 0;
  #longUnder = 0;

  /** @param name Name of the threads in Deno's messages. */
  constructor(name: string, limits: CallLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  /**
   * Runs a call in a thread.
   *
   * @param isLong Whether it may take long. Short calls do not wait for long ones.
   * @param make Makes the call when a thread is free, so that waiting calls take no memory.
   * @param signal Aborts waiting. A call in flight continues in its thread, up to its timeout.
   * @returns The result of the call.
   * @throws {CallError} If it exceeded its time or memory, or too many calls wait.
   */
  async call(
    isLong: boolean,
    make: () => Promise<Call>,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    await this.#room(isLong, signal);
    const end = () => {
      this.#under--;
      if (isLong) this.#longUnder--;
      this.#beginWaiting();
    };
    let running: Promise<Uint8Array<ArrayBuffer>>;
    try {
      const call = await make();
      signal?.throwIfAborted();
      running = this.#run(call);
    } catch (error) {
      end();
      throw error;
    }
    const ended = running.finally(end);
    return await abortable(ended, signal);
  }

  /** Terminates all threads and fails calls in flight. */
  close(): void {
    for (const thread of this.#all) {
      thread.end(new CallError("died", "the program ends"));
    }
    this.#all.clear();
    this.#idle.length = 0;
  }

  async #room(isLong: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length === 0 && this.#mayBegin(isLong)) {
      return this.#count(isLong);
    }
    if (this.#waiting.length >= this.#limits.waiting) {
      throw new CallError(
        "busy",
        `${this.#limits.waiting} others wait for a thread. Try again soon`,
      );
    }
    const turn = Promise.withResolvers<void>();
    const waiting: WaitingCall = {
      isLong,
      begin: () => {
        this.#count(isLong);
        turn.resolve();
      },
    };
    this.#waiting.push(waiting);
    const leave = () => {
      const before = this.#waiting.length;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      if (this.#waiting.length < before) turn.reject(signal!.reason);
    };
    signal?.addEventListener("abort", leave);
    this.#beginWaiting();
    try {
      await turn.promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  #count(isLong: boolean): void {
    this.#under++;
    if (isLong) this.#longUnder++;
  }

  #mayBegin(isLong: boolean): boolean {
    const { threads } = this.#limits;
    const mostLong = Math.max(threads - 1, 1);
    return this.#under < threads && (!isLong || this.#longUnder < mostLong);
  }

  /** Starts waiting calls in order; short ones may overtake long ones. */
  #beginWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#mayBegin(waiting.isLong)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.begin();
    }
  }

  async #run(call: Call): Promise<Uint8Array<ArrayBuffer>> {
    this.#lost = this.#lost.filter(({ busy, until }) =>
      Atomics.load(busy, 0) === 1 && performance.now() < until
    );
    if (this.#lost.length >= this.#limits.threads) {
      throw new CallError(
        "timeout",
        `${this.#limits.threads} terminated threads still compute. Restart the server`,
      );
    }
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await thread.call(call, this.#limits.timeout);
    } finally {
      if (thread.isOver) {
        this.#all.delete(thread);
        const { busy } = thread;
        this.#lost.push({ busy, until: performance.now() + LOST });
      } else {
        this.#idle.push(thread);
        thread.rest(IDLE, () => {
          this.#all.delete(thread);
          this.#idle.splice(this.#idle.indexOf(thread), 1);
        });
      }
    }
  }

  #start(): CallThread {
    const thread = new CallThread(this.#name, this.#limits.memory);
    this.#all.add(thread);
    return thread;
  }
}

class CallThread {
  readonly #worker: BoundedThread;
  readonly #memory: number;
  readonly busy = new Int32Array(new SharedArrayBuffer(4));
  #current: PromiseWithResolvers<Uint8Array<ArrayBuffer>> | undefined;
  #resting: ReturnType<typeof setTimeout> | undefined;
  #clock: ReturnType<typeof setTimeout> | undefined;
  #timeout = 0;
  isOver = false;

  constructor(name: string, memory: number) {
    this.#memory = memory;
    const module = new URL("./call_worker.ts", import.meta.url);
    this.#worker = startBoundedThread<CallReport>(module, name, memory, {
      heard: (report) => {
        const call = this.#current;
        if (report.kind === "begun") this.#startClock();
        else if (report.kind === "result") call?.resolve(report.result);
        else call?.reject(deserializeError(report.error));
      },
      died: (why) => this.#die(why),
    });
  }

  async call(
    { transfer, ...call }: Call,
    timeout: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    clearTimeout(this.#resting);
    this.#worker.ref();
    this.#timeout = timeout;
    this.#current = Promise.withResolvers();
    this.#startClock();
    try {
      Atomics.store(this.busy, 0, 1);
      const task: CallTask = {
        ...call,
        busy: this.busy.buffer as SharedArrayBuffer,
      };
      this.#worker.postMessage(task, transfer);
      return await this.#current.promise;
    } finally {
      clearTimeout(this.#clock);
      this.#current = undefined;
      this.#worker.unref();
    }
  }

  #startClock(): void {
    clearTimeout(this.#clock);
    this.#clock = setTimeout(() => {
      const seconds = this.#timeout / 1000;
      this.end(new CallError("timeout", `it takes more than ${seconds} s`));
    }, this.#timeout);
  }

  /** Terminates the thread after some time, unless it is called before. */
  rest(milliseconds: number, onEnd: () => void): void {
    this.#resting = setTimeout(() => {
      this.end(new CallError("died", "nothing was asked of it"));
      onEnd();
    }, milliseconds);
    Deno.unrefTimer(this.#resting);
  }

  /** Terminates the thread. A call in flight fails with `reason`. */
  end(reason: CallError): void {
    clearTimeout(this.#resting);
    this.isOver = true;
    this.#worker.terminate();
    this.#current?.reject(reason);
  }

  #die(why: string): void {
    Atomics.store(this.busy, 0, 0);
    if (this.isOver) return;
    this.isOver = true;
    const isMemory = /memory/i.test(why);
    this.#current?.reject(
      new CallError(
        "died",
        isMemory ? `it takes more than ${this.#memory} MB of memory` : why,
      ),
    );
  }
}
