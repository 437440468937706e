import { RecordfsError } from "../../base/errors.ts";
import { startThread } from "../../io/concurrency/thread.ts";
import { deserializeError } from "../../base/serialized_error.ts";
import { GRACE } from "../listen.ts";
import type { Access } from "../options.ts";
import type { AnsweringReport, AnsweringTask, AnswerTask } from "./messages.ts";

/** How much longer than what is under way a thread may take to end, in milliseconds. */
const ENDING = 2000;

/** Who hears what threads have to say. */
export interface ThreadListeners {
  readonly onError: (error: unknown) => void;
  readonly onAccess: ((access: Access) => void) | undefined;
}

/**
 * Whether threads can share a port: Linux gives each some of the connections, and Deno lets them with `--unstable-net`,
 * with which alone it has what is looked for.
 */
export function canSharePorts(): boolean {
  return Deno.build.os === "linux" && "listenDatagram" in Deno;
}

/** Threads that answer beside the main one: each listens on its port, and the system gives them connections by turns. */
export class AnsweringThreads {
  readonly #threads: readonly AnsweringThread[];

  constructor(count: number, task: AnswerTask, listeners: ThreadListeners) {
    this.#threads = Array.from(
      { length: count },
      () => new AnsweringThread(task, listeners),
    );
  }

  /** Ends them: what is under way may go on for three seconds. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class AnsweringThread {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();

  constructor(task: AnswerTask, { onError, onAccess }: ThreadListeners) {
    const died = (why: string, cause?: Error) => {
      this.#ended.resolve();
      const message =
        `A thread of the server has ended, and others go on: ${why}`;
      onError(new RecordfsError("worker-died", message, { cause }));
    };
    const heard = (report: AnsweringReport) => {
      switch (report.kind) {
        case "accesses":
          for (const access of report.accesses) onAccess?.(access);
          return;
        case "error":
          return onError(deserializeError(report.error));
        case "failed":
          return died(report.error.message, deserializeError(report.error));
        case "ended":
          return this.#ended.resolve();
      }
    };
    const module = new URL("./worker.ts", import.meta.url);
    this.#worker = startThread(module, "recordfs serve", { heard, died });
    this.#tell(task);
  }

  async close(): Promise<void> {
    this.#tell({ kind: "end" });
    const late = setTimeout(() => this.#ended.resolve(), GRACE + ENDING);
    await this.#ended.promise;
    clearTimeout(late);
    this.#worker.terminate();
  }

  #tell(task: AnsweringTask): void {
    this.#worker.postMessage(task);
  }
}
