import { deserializeError } from "../../src/base/serialized_error.ts";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import { startThread } from "../../src/io/concurrency/thread.ts";
import { backoffTable } from "../../src/io/remote/backoff_table.ts";
import { warnedCaches } from "../../src/io/remote/cache/warned_caches.ts";
import { requireDescriptors } from "../../src/io/storage/thread_descriptors.ts";
import type { BlockMap } from "../../src/io/remote/cache/block_store.ts";
import { RemoteError } from "../../src/io/remote/remote_error.ts";
import type { RemoteStorage } from "../../src/io/remote/remote_storage.ts";
import { openedSources } from "../../src/tree/joined_sources.ts";
import { remoteParts } from "../../src/tree/remote_parts.ts";
import { areOpen, type Tree } from "../../src/tree/tree.ts";
import type { MapsOfRemote } from "../content/mapping.ts";
import { MountError } from "../mounting/mount_error.ts";
import type {
  FromFetchThread,
  ToFetchThread,
  WantedObject,
  WantedPlace,
} from "./fetch_messages.ts";

/** By which a serving thread reaches the one that fetches: to hand over, and to ask. */
export interface FetchPorts {
  readonly port: MessagePort;
  readonly asking: MessagePort;
}

/** Without what no thread can be sent. */
function portable(
  { url, options }: Pick<RemoteStorage, "url" | "options">,
): WantedPlace {
  const { onWarning, ...others } = options;
  const warned = [...warnedCaches(onWarning)];
  return { url, options: others, warned, backoffs: backoffTable() };
}

/**
 * The thread that fetches what a mount shows from servers. It has an event loop: those that serve wait for the kernel,
 * and hand over to it what they would have to wait for otherwise.
 */
export class FetchThread {
  readonly #worker: Worker;
  readonly #onLog: (message: string) => void;
  readonly #onTrace: ((line: string) => void) | undefined;
  readonly #opened = Promise.withResolvers<
    readonly (BlockMap | undefined)[]
  >();
  readonly #stopped = Promise.withResolvers<void>();

  /**
   * Starts it.
   *
   * @param onDeath Told if it dies: what was handed over is never answered then.
   * @throws {RecordfsError} With code `EMFILE` where too many files are open for another thread.
   */
  constructor(
    onLog: (message: string) => void,
    onTrace: ((line: string) => void) | undefined,
    onDeath: (why: string) => void,
  ) {
    this.#onLog = onLog;
    this.#onTrace = onTrace;
    const trace = onTrace !== undefined;
    this.#opened.promise.catch(() => {}); // may fail when nobody waits for it
    const module = new URL("./fetch_worker.ts", import.meta.url);
    requireDescriptors(1, "thread that fetches");
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
    if (trace) this.#tell({ kind: "mounted", trace });
  }

  /**
   * Opens what of a tree lies on servers; once.
   *
   * @throws {RecordfsError} If one can't be opened, or is not what it was.
   */
  async open(tree: Tree): Promise<MapsOfRemote> {
    const { objects, places } = remoteParts(tree);
    this.#tell({
      kind: "open",
      objects: objects.map(({ origin, tag }): WantedObject => ({
        origin: { ...portable(origin), path: origin.path },
        tag,
      })),
      places: places.map(portable),
    });
    const maps = await this.#opened.promise;
    // Trees that open more when it is needed read indexes, which can't be waited for where links are followed.
    if (tree.target !== undefined && areOpen(tree.sources)) {
      const all = openedSources(tree.sources);
      const sources = objects.map((source) => all.indexOf(source));
      this.#tell({ kind: "follow", tree: tree.share(), sources });
    }
    return new Map(
      objects.map((source, object) => [source, { object, map: maps[object] }]),
    );
  }

  /** Has it answer what a serving thread asks; that thread's ends of what leads to it. */
  reach(thread: number): FetchPorts {
    const [over, ask] = [new MessageChannel(), new MessageChannel()];
    const [port, asking] = [over.port1, ask.port1];
    this.#tell({ kind: "reach", thread, port, asking }, [port, asking]);
    return { port: over.port2, asking: ask.port2 };
  }

  /**
   * Has it answer what that thread hands over.
   *
   * @param fd A further number of that thread's descriptor, which is this one's from now on.
   */
  serve(thread: number, fd: number): void {
    this.#tell({ kind: "serve", thread, fd });
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
    else if (message.kind === "trace") this.#onTrace?.(message.line);
    else if (message.kind === "stopped") this.#stopped.resolve();
    else {
      const { error } = message;
      this.#opened.reject(
        deserializeError(error, FormatError, RemoteError, RecordfsError),
      );
    }
  }
}
