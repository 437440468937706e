import { messageOf } from "../../../base/message_text.ts";
import { MessageChannel, Worker } from "node:worker_threads";
import {
  type DecodeMemoryShare,
  newDecodeMemoryShare,
  returnDecodeMemory,
} from "../../../codecs/image/decode_memory.ts";
import {
  requireDescriptors,
  threadsStart,
} from "../../../io/storage/thread_descriptors.ts";
import { serializeError } from "../../../base/serialized_error.ts";
import { DataError } from "../../data_error.ts";
import { type FromThread, type ToThread, transferable } from "./messages.ts";
import type { CommonSetup } from "./thread_setup.ts";

export class WorkerPool implements ThreadEvents {
  readonly threads: readonly WorkerThread[];
  /** Receives the threads' events while a loop runs. */
  events: ThreadEvents | undefined;
  #loop = 0;
  #isOver = false;

  /**
   * @throws {DataError} With code `not-portable` if the dataset's recipe cannot be posted.
   * @throws {RecordfsError} With code `EMFILE` if too many files are open for so many threads.
   */
  constructor(setup: CommonSetup) {
    requireDescriptors(setup.numWorkers, "threads of a loader");
    threadsStart(setup.numWorkers);
    this.threads = Array.from(
      { length: setup.numWorkers },
      (_, worker) => new WorkerThread(worker, this),
    );
    try {
      for (const thread of this.threads) {
        const { worker, decodeMemory } = thread;
        const own = { ...setup, worker, decodeMemory };
        thread.send({ kind: "start", setup: own });
      }
    } catch (cause) {
      this.end();
      throw new DataError(
        "not-portable",
        "Cannot send the dataset to the loader's worker threads: " +
          `${messageOf(cause).replace(/\.$/, "")}. Load with numWorkers: 0`,
        { cause },
      );
    }
  }

  heard(thread: WorkerThread, message: FromThread): void {
    if (message.kind === "broken") this.#isOver = true;
    this.events?.heard(thread, message);
  }

  died(thread: WorkerThread, end: ThreadEnd): void {
    this.#isOver = true;
    this.events?.died(thread, end);
  }

  /** Whether a thread has ended or failed to start, so that a new pool is needed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  nextLoop(): number {
    return ++this.#loop;
  }

  /** Cancels the batches of a loop in all threads. */
  forget(loop: number): void {
    for (const thread of this.threads) {
      if (thread.isAlive) thread.send({ kind: "forget", loop });
    }
  }

  /** Keeps the program running while a batch is awaited; otherwise lets it end. */
  keepRunning(isWaitedFor: boolean): void {
    for (const thread of this.threads) thread.keepRunning(isWaitedFor);
  }

  /** Ends the threads. A thread that is `stuck` is terminated at once. */
  async end(stuck?: WorkerThread): Promise<void> {
    this.events = undefined;
    this.#isOver = true;
    await Promise.all(
      this.threads.map((thread) =>
        thread.end(thread === stuck ? 0 : undefined)
      ),
    );
  }
}

/** Time limit for a thread to end by itself, in ms, before it is terminated. */
const PATIENCE = 2000;

export interface ThreadEvents {
  heard(thread: WorkerThread, message: FromThread): void;
  /** The thread ended unexpectedly. */
  died(thread: WorkerThread, end: ThreadEnd): void;
}

export interface ThreadEnd {
  readonly code: number;
  readonly error: unknown;
}

interface Port extends MessagePort {
  ref(): void;
  unref(): void;
}

/**
 * A thread of the loader.
 *
 * Uses Node's workers: unlike web workers, they report when they end by themselves. Messages go through a separate
 * channel: Node's own, under Deno, inspects each element of each typed array it receives, which takes hundreds of
 * milliseconds for a batch of images.
 */
export class WorkerThread {
  /** Number of the thread, from 0. */
  readonly worker: number;
  /** Share of the memory for decoding images. */
  readonly decodeMemory: DecodeMemoryShare = newDecodeMemoryShare();
  readonly #thread: Worker;
  readonly #port: Port;
  readonly #exited = Promise.withResolvers<void>();
  #isAlive = true;
  #isEnding = false;

  constructor(worker: number, events: ThreadEvents) {
    this.worker = worker;
    const { port1, port2 } = new MessageChannel();
    this.#thread = new Worker(threadModule(), {
      name: `recordfs loader ${worker}`,
      workerData: port2,
      transferList: [port2],
    });
    let uncaught: unknown;
    this.#thread.on("error", (error) => uncaught = error);
    this.#thread.on("exit", (code) => {
      this.#isAlive = false;
      returnDecodeMemory(this.decodeMemory);
      this.#port.close();
      this.#exited.resolve();
      if (!this.#isEnding) events.died(this, { code, error: uncaught });
    });
    this.#port = port1 as unknown as Port;
    this.#port.onmessage = ({ data }: MessageEvent<FromThread>) =>
      events.heard(this, data);
    this.#port.onmessageerror = () => {
      const error = serializeError(
        new Error("it sent what cannot be read here"),
      );
      events.heard(this, { kind: "broken", error });
    };
    this.keepRunning(false);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends a message; memory is transferred, not copied. */
  send(message: ToThread): void {
    const memory = message.kind === "load" ? message.memory : [];
    this.#port.postMessage(message, transferable(memory));
  }

  /** Keeps the program running while the thread is awaited; otherwise lets it end. */
  keepRunning(isWaitedFor: boolean): void {
    for (const end of [this.#thread, this.#port]) {
      if (isWaitedFor) end.ref();
      else end.unref();
    }
  }

  /** Asks the thread to close its files and end, and terminates it after a time limit. */
  async end(patience = PATIENCE): Promise<void> {
    if (!this.#isAlive) return;
    this.#isEnding = true;
    this.keepRunning(true);
    this.send({ kind: "close" });
    const late = setTimeout(() => this.#thread.terminate(), patience);
    await this.#exited.promise;
    clearTimeout(late);
  }
}

/** URL of the thread's module. Node accepts only files and `data:`, and the module may come from a registry. */
function threadModule(): URL {
  const module = new URL("./worker.ts", import.meta.url);
  if (module.protocol === "file:") return module;
  const code = `import ${JSON.stringify(module.href)};`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
