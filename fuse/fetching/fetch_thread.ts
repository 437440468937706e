import { deserializeError } from "../../src/serialized_error.ts";
import { FormatError, RecordfsError } from "../../src/errors.ts";
import { startThread } from "../../src/io/concurrency/thread.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import { RemoteError } from "../../src/io/remote/remote_error.ts";
import { RemoteSource } from "../../src/io/remote/remote_source.ts";
import type { MapsOfRemote } from "../content/mapping.ts";
import { MountError } from "../mounting/mount_error.ts";
import type {
  FromFetchThread,
  ToFetchThread,
  WantedObject,
} from "./fetch_messages.ts";

/** The sources that lie on servers. */
export function remoteSources(
  sources: readonly ByteSource[],
): readonly RemoteSource[] {
  return sources.filter((source) => source instanceof RemoteSource);
}

/**
 * The thread that fetches what a mount shows from servers. It has an event loop: those that serve wait for the kernel,
 * and hand over to it what they would have to wait for otherwise.
 */
export class FetchThread {
  readonly #worker: Worker;
  readonly #onLog: (message: string) => void;
  readonly #opened = Promise.withResolvers<
    readonly (BlockMap | undefined)[]
  >();
  readonly #stopped = Promise.withResolvers<void>();

  /**
   * Starts it.
   *
   * @param onDeath Told if it dies: what was handed over is never answered then.
   */
  constructor(
    onLog: (message: string) => void,
    onDeath: (why: string) => void,
  ) {
    this.#onLog = onLog;
    this.#opened.promise.catch(() => {}); // may fail when nobody waits for it
    const module = new URL("./fetch_worker.ts", import.meta.url);
    this.#worker = startThread<FromFetchThread>(module, "recordfs fetch", {
      heard: (message) => this.#hear(message),
      died: (why) => {
        this.#opened.reject(
          new MountError("server", `The thread that fetches died: ${why}`),
        );
        this.#stopped.resolve();
        onDeath(why);
      },
    });
  }

  /**
   * Opens what lies on servers; once.
   *
   * @throws {RecordfsError} If one can't be opened, or is not what it was.
   */
  async open(sources: readonly RemoteSource[]): Promise<MapsOfRemote> {
    const objects = sources.map(({ origin, tag }): WantedObject => {
      const { onWarning: _, ...options } = origin.options; // no thread can be sent it
      return { origin: { ...origin, options }, tag };
    });
    this.#tell({ kind: "open", objects });
    const maps = await this.#opened.promise;
    return new Map(
      sources.map((source, object) => [source, { object, map: maps[object] }]),
    );
  }

  /** Has it answer what a serving thread hands over, by a further number of that thread's descriptor. */
  serve(thread: number, port: MessagePort, fd: number): void {
    this.#tell({ kind: "serve", thread, port, fd }, [port]);
  }

  /** Says that a serving thread has ended. */
  ended(thread: number): void {
    this.#tell({ kind: "ended", thread });
  }

  /** Says what is known when there is a mount. */
  mounted(
    facts: Omit<Extract<ToFetchThread, { kind: "mounted" }>, "kind">,
  ): void {
    this.#tell({ kind: "mounted", ...facts });
  }

  /** Ends it, once it has let go of all. */
  async stop(): Promise<void> {
    this.#tell({ kind: "stop" });
    await this.#stopped.promise;
    this.#worker.terminate();
  }

  #tell(message: ToFetchThread, ports: Transferable[] = []): void {
    this.#worker.postMessage(message, ports);
  }

  #hear(message: FromFetchThread): void {
    if (message.kind === "opened") this.#opened.resolve(message.maps);
    else if (message.kind === "log") this.#onLog(message.message);
    else if (message.kind === "stopped") this.#stopped.resolve();
    else {
      const { error } = message;
      this.#opened.reject(
        deserializeError(error, FormatError, RemoteError, RecordfsError),
      );
    }
  }
}
