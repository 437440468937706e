import type { Tree } from "../src/tree/tree.ts";
import { ConnectionState } from "./connection_state.ts";
import type { MappedSource } from "./mapping.ts";
import type { PrepareMessage, ServeMessage, WorkerReport } from "./messages.ts";
import { MountError } from "./mount_error.ts";
import type { Ownership } from "./wire/structs.ts";

/** What a {@linkcode Server} serves, and whom it tells. */
export interface ServerOptions {
  readonly tree: Tree;
  readonly sources: readonly MappedSource[];
  readonly owner: Ownership;
  readonly onLog: (message: string) => void;
  readonly onTrace: ((line: string) => void) | undefined;
}

/**
 * The threads that serve one mount.
 *
 * There is one today. A further one is a further {@linkcode ServingThread} with the same `prepare`
 * message, told to serve a descriptor that `FUSE_DEV_IOC_CLONE` attached to the same connection once
 * the first reports `serving`: all it needs to know lies in the shared {@linkcode ConnectionState}.
 */
export class Server {
  /** Settles when no thread serves any more; with what went wrong, if anything. */
  readonly ended: Promise<string | undefined>;
  readonly #thread: ServingThread;
  readonly #connection: ConnectionState;

  private constructor(thread: ServingThread, connection: ConnectionState) {
    this.#thread = thread;
    this.#connection = connection;
    this.ended = thread.ended;
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
    const thread = new ServingThread(options);
    await thread.prepare(message);
    return new Server(thread, connection);
  }

  /**
   * Serves a mounted descriptor, which from now on belongs to the server.
   *
   * @returns When the kernel has been answered for the first time.
   * @throws {MountError} If serving ended before.
   */
  async serve(fd: number): Promise<void> {
    await this.#thread.serve(fd);
  }

  /** Ends the threads when nothing has been given to {@linkcode serve}. */
  abandon(): void {
    this.#thread.terminate();
  }

  /** Has each thread end after the next request it reads; the mount must be asked something then. */
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

  constructor({ onLog, onTrace }: ServerOptions) {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#prepared.promise.catch(() => {}); // may fail when nobody waits for it
    this.#serving.promise.catch(() => {});
    const end = (failure: string | undefined) => {
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
      else end(data.failure);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault(); // or it would end this process
      end(event.message);
    };
  }

  prepare(message: PrepareMessage): Promise<void> {
    this.#worker.postMessage(message);
    return this.#prepared.promise;
  }

  serve(fd: number): Promise<void> {
    const message: ServeMessage = { kind: "serve", fd };
    this.#worker.postMessage(message);
    return this.#serving.promise;
  }

  terminate(): void {
    this.#worker.terminate();
  }
}
