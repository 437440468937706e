import type { Tree } from "../src/tree/tree.ts";
import { cloneDevice } from "./clone_device.ts";
import { ConnectionState } from "./connection_state.ts";
import { duplicate } from "./duplicate.ts";
import { errorText, libc } from "./libc.ts";
import type { MappedSource } from "./mapping.ts";
import type { PrepareMessage, ServeMessage, WorkerReport } from "./messages.ts";
import { MountError } from "./mount_error.ts";
import { ServedDescriptor } from "./served_descriptor.ts";
import type { Ownership } from "./wire/structs.ts";

/** What a {@linkcode Server} serves, and whom it tells. */
export interface ServerOptions {
  readonly tree: Tree;
  readonly sources: readonly MappedSource[];
  readonly owner: Ownership;
  /** How many threads serve it. */
  readonly workers: number;
  readonly onLog: (message: string) => void;
  readonly onTrace: ((line: string) => void) | undefined;
}

/**
 * The threads that serve one mount, each on a descriptor of its own, with the tree's tables in memory
 * that they share.
 */
export class Server {
  /** Settles when no thread serves any more; with what went wrong first, if anything. */
  readonly ended: Promise<string | undefined>;
  readonly #threads: readonly ServingThread[];
  readonly #connection: ConnectionState;
  readonly #onLog: (message: string) => void;

  private constructor(
    threads: readonly ServingThread[],
    connection: ConnectionState,
    onLog: (message: string) => void,
  ) {
    this.#threads = threads;
    this.#connection = connection;
    this.#onLog = onLog;
    this.ended = Promise.all(threads.map(({ ended }) => ended))
      .then((failures) => failures.find((failure) => failure !== undefined));
  }

  /** How many threads there are. */
  get threads(): number {
    return this.#threads.length;
  }

  /**
   * Starts the threads and has them rebuild the tree, so that nothing is mounted that can't be served.
   *
   * @throws {MountError} If the tree cannot be rebuilt there.
   */
  static async prepare(options: ServerOptions): Promise<Server> {
    const connection = new ConnectionState();
    const message: PrepareMessage = {
      kind: "prepare",
      seed: options.tree.share(),
      sources: options.sources,
      owner: options.owner,
      connection: connection.memory,
      trace: options.onTrace !== undefined,
    };
    const threads = Array.from(
      { length: options.workers },
      () => new ServingThread(options),
    );
    const server = new Server(threads, connection, options.onLog);
    try {
      await Promise.all(threads.map((thread) => thread.prepare(message)));
    } catch (error) {
      server.abandon();
      throw error;
    }
    return server;
  }

  /**
   * Serves a mounted descriptor, which from now on belongs to the server.
   *
   * @returns When the kernel has been answered for the first time.
   * @throws {MountError} If serving ended before.
   */
  async serve(fd: number): Promise<void> {
    const [first, ...others] = this.#threads;
    // The first thread may close its descriptor at any time, and the number be another file's then.
    const kept = duplicate(fd);
    try {
      await first!.serve(fd).catch((error) => {
        for (const thread of others) thread.abandon();
        throw error;
      });
      this.#reportDeaths();
      // INIT came to the first; only now can it be cloned.
      for (const thread of others) this.#startOn(thread, kept);
    } finally {
      if (kept >= 0) libc().close(kept);
    }
  }

  /** Ends the threads when nothing has been given to {@linkcode serve}. */
  abandon(): void {
    for (const thread of this.#threads) thread.abandon();
  }

  /** Has a thread serve a clone of a descriptor, which may be an error number, negative. */
  #startOn(thread: ServingThread, fd: number): void {
    const clone = fd < 0 ? fd : cloneDevice(fd);
    if (clone >= 0) return thread.start(clone);
    thread.abandon();
    this.#onLog(
      `One thread less serves the mount: cloning its descriptor failed: ${
        errorText(-clone)
      }`,
    );
  }

  /** Logs the failure of each thread but the last, whose failure is the mount's end. */
  #reportDeaths(): void {
    let left = this.#threads.length;
    for (const thread of this.#threads) {
      thread.ended.then((failure) => {
        left--;
        if (failure === undefined || left === 0) return;
        this.#onLog(
          `A thread that serves the mount ended, ${left} go on: ${failure}`,
        );
      });
    }
  }

  /** Has each thread end after the next request it reads; the mount must be asked as often then. */
  stop(): void {
    this.#connection.stop();
  }
}

/** One thread that serves a mount, seen from outside. */
class ServingThread {
  readonly ended: Promise<string | undefined>;
  readonly #worker: Worker;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #serving = Promise.withResolvers<void>();
  readonly #end: (failure: string | undefined) => void;
  #descriptor: ServedDescriptor | undefined;
  #over = false;

  constructor({ onLog, onTrace }: ServerOptions) {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#prepared.promise.catch(() => {}); // may fail when nobody waits for it
    this.#serving.promise.catch(() => {});
    this.#end = (failure) => {
      this.#over = true;
      // Left open by a thread that died, the requests that it had read would wait for ever.
      this.#descriptor?.close();
      const error = new MountError(
        "server",
        `The mount cannot be served: ${failure ?? "it was unmounted at once"}`,
      );
      this.#prepared.reject(error);
      this.#serving.reject(error);
      resolve(failure);
    };
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: "recordfs mount",
    });
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => {
      if (data.kind === "prepared") this.#prepared.resolve();
      else if (data.kind === "serving") this.#serving.resolve();
      else if (data.kind === "log") onLog(data.message);
      else if (data.kind === "trace") onTrace?.(data.line);
      else this.#end(data.failure);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault(); // or it would end this process
      this.#end(event.message);
    };
  }

  prepare(message: PrepareMessage): Promise<void> {
    this.#worker.postMessage(message);
    return this.#prepared.promise;
  }

  /** Serves a connection from its beginning; settles when it has been agreed on. */
  serve(fd: number): Promise<void> {
    this.start(fd);
    return this.#serving.promise;
  }

  /** Serves a descriptor, which from now on belongs to the thread. */
  start(fd: number): void {
    const descriptor = ServedDescriptor.of(fd);
    if (this.#over) return descriptor.close();
    this.#descriptor = descriptor;
    const message: ServeMessage = {
      kind: "serve",
      descriptor: descriptor.memory,
    };
    this.#worker.postMessage(message);
  }

  /** Ends the thread, which serves nothing yet. */
  abandon(): void {
    this.#worker.terminate();
    this.#end(undefined);
  }
}
