/**
 * A thread that runs a module, from both of its ends.
 *
 * @module
 */

import { startsThread, threadAnswers } from "./event_loop.ts";

/** What TypeScript's library for pages does not say of threads. */
export interface ThreadScope<Heard, Said> {
  onmessage: ((event: MessageEvent<Heard>) => void) | null;
  postMessage(message: Said): void;
  close(): void;
}

/** The end that is the thread which calls this. */
export function threadScope<Heard, Said>(): ThreadScope<Heard, Said> {
  return globalThis as unknown as ThreadScope<Heard, Said>;
}

/**
 * Starts a thread.
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
