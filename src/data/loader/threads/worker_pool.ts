import { DataError } from "../../data_error.ts";
import { messageOf } from "../batch_error.ts";
import type { CommonSetup } from "./thread_setup.ts";
import { type ThreadEvents, WorkerThread } from "./worker_thread.ts";

/** The threads of a loader. */
export class WorkerPool {
  readonly threads: readonly WorkerThread[];
  /** Told of what the threads do, while a loop runs. */
  events: ThreadEvents | undefined;
  #loop = 0;
  #isOver = false;

  /**
   * Starts the threads.
   *
   * @throws {DataError} With code `not-portable` if the dataset's recipe cannot be sent.
   */
  constructor(count: number, setup: CommonSetup) {
    const events: ThreadEvents = {
      heard: (thread, message) => {
        if (message.kind === "broken") this.#isOver = true;
        this.events?.heard(thread, message);
      },
      died: (thread, end) => {
        this.#isOver = true;
        this.events?.died(thread, end);
      },
    };
    this.threads = Array.from(
      { length: count },
      (_, worker) => new WorkerThread(worker, events),
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

  /** Whether a thread has ended or cannot load, so that others are needed. */
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

  /** Keeps the program running while somebody waits for a batch. */
  ref(): void {
    for (const thread of this.threads) thread.ref();
  }

  /** Lets the program end. */
  unref(): void {
    for (const thread of this.threads) thread.unref();
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
