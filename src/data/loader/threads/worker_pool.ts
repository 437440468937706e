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

/** The threads of a loader. */
export class WorkerPool implements ThreadEvents {
  readonly threads: readonly WorkerThread[];
  /** Told of what the threads do, while a loop runs. */
  events: ThreadEvents | undefined;
  #loop = 0;
  #isOver = false;

  /**
   * Starts the threads.
   *
   * @throws {DataError} With code `not-portable` if the dataset's recipe cannot be sent.
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
        `The dataset cannot be sent to the loader's worker threads: ${
          messageOf(cause)
        }; load with numWorkers: 0`,
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

  /** True if a thread has ended or cannot load, so that others are needed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The number of a loop that begins. */
  nextLoop(): number {
    return ++this.#loop;
  }

  /** Has the threads leave out what a loop has asked for. */
  forget(loop: number): void {
    for (const thread of this.threads) {
      if (thread.isAlive) thread.send({ kind: "forget", loop });
    }
  }

  /** Keeps the program running while somebody waits for a batch, and lets it end otherwise. */
  keepRunning(isWaitedFor: boolean): void {
    for (const thread of this.threads) thread.keepRunning(isWaitedFor);
  }

  /**
   * Ends the threads.
   *
   * @param stuck The one that has been waited for for too long.
   */
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

/** Time that a thread may take to give up, in ms, before it is ended as it is. */
const PATIENCE = 2000;

/** Told of what a thread does. */
export interface ThreadEvents {
  heard(thread: WorkerThread, message: FromThread): void;
  /** It has ended, though nobody asked it to. */
  died(thread: WorkerThread, end: ThreadEnd): void;
}

/** End of a thread that ended by itself. */
export interface ThreadEnd {
  readonly code: number;
  /** The error that was not caught in it. */
  readonly error: unknown;
}

/** Node's ports, which have more than the web's. */
interface Port extends MessagePort {
  ref(): void;
  unref(): void;
}

/**
 * A thread of the loader.
 *
 * It is one of Node's, because those tell when they end by themselves, which web workers do not. What is
 * said goes through a channel of its own: Node's, under Deno, looks at each element of each typed array
 * that it receives, which takes hundreds of milliseconds for a batch of images.
 */
export class WorkerThread {
  /** Its number, from 0. */
  readonly worker: number;
  /** Share that it takes memory for images from. */
  readonly decodeMemory: DecodeMemoryShare = newDecodeMemoryShare();
  readonly #thread: Worker;
  readonly #port: Port;
  readonly #exited = Promise.withResolvers<void>();
  #isAlive = true;
  #isEnding = false;

  /** Starts the thread. */
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

  /** True if it has not ended. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends a message; memory passes along without being copied. */
  send(message: ToThread): void {
    const memory = message.kind === "load" ? message.memory : [];
    this.#port.postMessage(message, transferable(memory));
  }

  /** Keeps the program running while somebody waits for the thread, and lets it end otherwise. */
  keepRunning(isWaitedFor: boolean): void {
    for (const end of [this.#thread, this.#port]) {
      if (isWaitedFor) end.ref();
      else end.unref();
    }
  }

  /** Has the thread close its files and end; one that does not is ended as it is. */
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

/** The module that threads run. Node takes only files and `data:`, and this one may come from a registry. */
function threadModule(): URL {
  const module = new URL("./worker.ts", import.meta.url);
  if (module.protocol === "file:") return module;
  const code = `import ${JSON.stringify(module.href)};`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
