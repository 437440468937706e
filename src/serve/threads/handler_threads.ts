import { RecordfsError } from "../../base/errors.ts";
import { startThread } from "../../io/concurrency/thread.ts";
import { deserializeError } from "../../base/serialized_error.ts";
import { GRACE } from "../listen.ts";
import type { Access } from "../options.ts";
import type { HandlerReport, HandlerTask, ResponseTask } from "./messages.ts";

/** Time in milliseconds, beyond the grace period, until a thread is terminated. */
const ENDING = 2000;

export interface ThreadListeners {
  readonly onError: (error: unknown) => void;
  readonly onAccess: ((access: Access) => void) | undefined;
}

/**
 * Whether threads can share a port: Linux distributes the connections, and Deno supports it with `--unstable-net`,
 * detected by an API that exists only then.
 */
export function canSharePorts(): boolean {
  return Deno.build.os === "linux" && "listenDatagram" in Deno;
}

/** Additional serving threads: all listen on the same port, and the system distributes the connections. */
export class HandlerThreads {
  readonly #threads: readonly HandlerThread[];

  constructor(count: number, task: ResponseTask, listeners: ThreadListeners) {
    this.#threads = Array.from(
      { length: count },
      () => new HandlerThread(task, listeners),
    );
  }

  /** Closes them, with a grace period of three seconds for responses in progress. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class HandlerThread {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();

  constructor(task: ResponseTask, { onError, onAccess }: ThreadListeners) {
    const died = (why: string, cause?: Error) => {
      this.#ended.resolve();
      const message =
        `A thread of the server ended, and others continue: ${why}`;
      onError(new RecordfsError("worker-died", message, { cause }));
    };
    const heard = (report: HandlerReport) => {
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

  #tell(task: HandlerTask): void {
    this.#worker.postMessage(task);
  }
}
