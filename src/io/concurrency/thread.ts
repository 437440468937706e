/**
 * A thread that runs a module, from both of its ends.
 *
 * @module
 */

import process from "node:process";
import { threadsStart } from "../storage/thread_descriptors.ts";
import { startsThread, threadAnswers } from "./event_loop.ts";

/** What TypeScript's library for pages does not say of threads. */
export interface ThreadScope<Heard, Said> {
  onmessage: ((event: MessageEvent<Heard>) => void) | null;
  postMessage(message: Said, transfer?: ArrayBuffer[]): void;
  close(): void;
}

/** The end that is the thread which calls this. */
export function threadScope<Heard, Said>(): ThreadScope<Heard, Said> {
  return globalThis as unknown as ThreadScope<Heard, Said>;
}

/**
 * Starts a thread. The caller has seen to it that there are descriptors for it (`requireDescriptors`).
 *
 * @param module What it runs.
 * @param name How it is called in messages of Deno.
 * @param events Told of each message, and why it died: an error that nothing caught there.
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

/** A thread with bounded memory. */
export interface BoundedThread {
  /** Sends a message; buffers in `transfer` are moved, not copied. */
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  /** Has the process wait for the thread. */
  ref(): void;
  /** Has the process end without waiting for the thread. */
  unref(): void;
  /** Ends the thread. Deno 2.9.6 does not interrupt what it computes: it ends behind that. */
  terminate(): void;
}

/**
 * Starts a thread that ends with an error where its objects take more than `megabytes`: other threads, and the process,
 * would end with it otherwise.
 */
export function startBoundedThread<Said>(
  module: URL,
  name: string,
  megabytes: number,
  events: {
    readonly heard: (message: Said) => void;
    readonly died: (why: string) => void;
  },
): BoundedThread {
  // Threads of pages have no such limit, and the process always waits for them.
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
  // It is told of a thread that was ended at once, whatever that still computes.
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
 * Calls a function in a task of its own. In a {@linkcode BoundedThread}, Deno 2.9.6 reports only of what such a task does
 * before it first waits that memory ran out.
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
