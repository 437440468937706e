import { deserializeError } from "../../src/base/serialized_error.ts";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import type { MessageListener } from "../../src/base/named_option.ts";
import { startThread } from "../../src/io/concurrency/thread.ts";
import { backoffTable } from "../../src/io/remote/retry/backoff_table.ts";
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

/** A serving thread's ports to the fetch thread: for delegated reads, and for blocking requests. */
export interface FetchPorts {
  readonly port: MessagePort;
  readonly asking: MessagePort;
}

/** Removes the callbacks, which cannot be sent to a thread. */
function portable(
  { url, options }: Pick<RemoteStorage, "url" | "options">,
): WantedPlace {
  const { onWarning, ...others } = options;
  const warned = [...warnedCaches(onWarning)];
  return { url, options: others, warned, backoffs: backoffTable() };
}

/**
 * Thread that fetches a mount's remote files. It has an event loop. Serving threads block in read(2) on
 * /dev/fuse, so they delegate reads that would have to wait for a server.
 */
export class FetchThread {
  readonly #worker: Worker;
  readonly #onLog: MessageListener;
  readonly #onTrace: ((line: string) => void) | undefined;
  readonly #opened = Promise.withResolvers<
    readonly (BlockMap | undefined)[]
  >();
  readonly #stopped = Promise.withResolvers<void>();

  /**
   * @param onDeath Called if the thread dies. Delegated reads are then never answered.
   * @throws {RecordfsError} With code `EMFILE` if too many files are open to start a thread.
   */
  constructor(
    onLog: MessageListener,
    onTrace: ((line: string) => void) | undefined,
    onDeath: (why: string) => void,
  ) {
    this.#onLog = onLog;
    this.#onTrace = onTrace;
    const trace = onTrace !== undefined;
    this.#opened.promise.catch(() => {}); // may reject while nobody waits
    const module = new URL("./fetch_worker.ts", import.meta.url);
    requireDescriptors(1, "thread that fetches");
    this.#worker = startThread<FromFetchThread>(module, "recordfs fetch", {
      heard: (message) => this.#hear(message),
      died: (why) => {
        this.#opened.reject(
          new MountError(
            "server",
            `Cannot serve the mount: its fetch thread died: ${why}`,
          ),
        );
        this.#stopped.resolve();
        onDeath(why);
      },
    });
    if (trace) this.#tell({ kind: "mounted", trace });
  }

  /**
   * Opens the remote parts of a tree. Must be called only once.
   *
   * @throws {RecordfsError} If an object cannot be opened, or has changed.
   */
  async open(tree: Tree): Promise<MapsOfRemote> {
    const { objects, origins, places } = remoteParts(tree);
    this.#tell({
      kind: "open",
      objects: objects.map(({ origin, tag }): WantedObject => ({
        origin: { ...portable(origin), path: origin.path },
        tag,
      })),
      places: [...places, ...origins.map(({ origin }) => origin)]
        .map(portable),
    });
    const maps = await this.#opened.promise;
    // Lazy trees read indexes on demand; following links cannot wait for those.
    if (tree.target !== undefined && areOpen(tree.sources)) {
      const all = openedSources(tree.sources);
      const sources = objects.map((source) => all.indexOf(source));
      this.#tell({ kind: "follow", tree: tree.share(), sources });
    }
    return new Map(
      objects.map((source, object) => [source, { object, map: maps[object] }]),
    );
  }

  /** Connects a serving thread. Returns its ends of the ports. */
  reach(thread: number): FetchPorts {
    const [over, ask] = [new MessageChannel(), new MessageChannel()];
    const [port, asking] = [over.port1, ask.port1];
    this.#tell({ kind: "reach", thread, port, asking }, [port, asking]);
    return { port: over.port2, asking: ask.port2 };
  }

  /** Lets the fetch thread answer delegated reads through `fd`, a duplicate, which it closes. */
  serve(thread: number, fd: number): void {
    this.#tell({ kind: "serve", thread, fd });
  }

  ended(thread: number): void {
    this.#tell({ kind: "ended", thread });
  }

  mounted(
    facts: Omit<Extract<ToFetchThread, { kind: "mounted" }>, "kind">,
  ): void {
    this.#tell({ kind: "mounted", ...facts });
  }

  /** Stops the thread after it has released its resources. */
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
    else if (message.kind === "log") {
      this.#onLog(message.message, message.options);
    } else if (message.kind === "trace") this.#onTrace?.(message.line);
    else if (message.kind === "stopped") this.#stopped.resolve();
    else {
      const { error } = message;
      this.#opened.reject(
        deserializeError(error, FormatError, RemoteError, RecordfsError),
      );
    }
  }
}
