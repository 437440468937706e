/**
 * Both ends of a thread that runs a module.
 *
 * @module
 */

import process from "node:process";
import { threadsStart } from "../storage/thread_descriptors.ts";
import { startsThread, threadAnswers } from "./event_loop.ts";

/** Global scope of a worker, which TypeScript's DOM library lacks. */
export interface ThreadScope<Heard, Said> {
  onmessage: ((event: MessageEvent<Heard>) => void) | null;
  postMessage(message: Said, transfer?: ArrayBuffer[]): void;
  close(): void;
}

export function threadScope<Heard, Said>(): ThreadScope<Heard, Said> {
  return globalThis as unknown as ThreadScope<Heard, Said>;
}

/**
 * Starts a thread. The caller must have checked that there are descriptors for it (`requireDescriptors`).
 *
 * @param name Name in Deno's messages.
 * @param events Called with each message, and with the uncaught error that ended the thread.
 */
export function startThread<Said>(
  module: URL,
  name: string,
  events: {
    readonly heard: (message: Said) => void;
    readonly died: (why: string) => void;
  },
): Worker {
  threadsStart(1);
  const worker = new Worker(module, { type: "module", name });
  startsThread(worker);
  worker.onmessage = ({ data }: MessageEvent<Said>) => {
    threadAnswers(worker);
    events.heard(data);
  };
  worker.onerror = (event) => {
    event.preventDefault(); // or it would end this process
    events.died(event.message);
  };
  worker.onmessageerror = () => events.died("it sent what cannot be read");
  return worker;
}

export interface BoundedThread {
  /** Sends a message; buffers in `transfer` are moved, not copied. */
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  ref(): void;
  /** Lets the process end without waiting for the thread. */
  unref(): void;
  /** Terminates the thread. Deno 2.9.6 does not interrupt its current computation: the thread ends after it. */
  terminate(): void;
}

/** Starts a thread that fails if its heap exceeds `megabytes`, instead of ending the whole process. */
export function startBoundedThread<Said>(
  module: URL,
  name: string,
  megabytes: number,
  events: {
    readonly heard: (message: Said) => void;
    readonly died: (why: string) => void;
  },
): BoundedThread {
  // Web workers have no such limit, and the process always waits for them.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(module, {
    name,
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
  });
  startsThread(worker);
  worker.on("message", (message: Said) => {
    threadAnswers(worker);
    events.heard(message);
  });
  let isEnded = false;
  worker.on("error", ({ message }: Error) => events.died(message));
  // Emitted at once for a terminated thread, even if it is still computing.
  worker.on("exit", () => isEnded || events.died("it has ended"));
  return {
    postMessage: (message, transfer) =>
      worker.postMessage(message, [...transfer]),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate() {
      isEnded = true;
      worker.terminate();
    },
  };
}

/**
 * Calls a function in a task of its own. In a {@linkcode BoundedThread}, Deno 2.9.6 reports running out of memory only
 * if it happens in such a task before its first wait.
 */
export function inTask<T>(call: () => T | Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  setImmediate(() => {
    try {
      resolve(call());
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}
