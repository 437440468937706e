import { deserializeError } from "../../src/base/serialized_error.ts";
import type {
  MessageListener,
  NamedOption,
} from "../../src/base/named_option.ts";
import {
  hasDescriptors,
  requireDescriptors,
  threadsStart,
} from "../../src/io/storage/thread_descriptors.ts";
import type { Tree } from "../../src/tree/tree.ts";
import { askToResend, cloneDevice, cloneOnto } from "./connection_control.ts";
import { type Agreed, ConnectionState } from "./connection_state.ts";
import { duplicate } from "./duplicate.ts";
import { errorText, libc } from "../libc.ts";
import type { MappedSource } from "../content/mapping.ts";
import type { FetchThread } from "../fetching/fetch_thread.ts";
import { MOST_WORKERS } from "../limits.ts";
import type { PrepareMessage, ServeMessage, WorkerReport } from "./messages.ts";
import { MountError } from "../mounting/mount_error.ts";
import { newListAheadMemory } from "../session/list_ahead.ts";
import { newSampleChecks } from "../checksums/sample_checks_memory.ts";
import { mapCounts } from "../session/request_counts.ts";
import { ServedDescriptor } from "./served_descriptor.ts";
import type { Ownership } from "../wire/node_structs.ts";

export interface ServerOptions {
  readonly workers: number;
  readonly onLog: MessageListener;
  readonly onTrace: ((line: string) => void) | undefined;
  /**
   * Descriptors of /dev/fuse to serve through, which another process holds as well; `undefined` for private ones.
   * The caller closes them.
   */
  readonly held: readonly number[] | undefined;
  /** Descriptor of the shared counter file, if counting is enabled. */
  readonly counts: number | undefined;
  /** Called first when a thread fails. */
  readonly onFailure: ((failure: string) => void) | undefined;
}

export interface Served {
  readonly tree: Tree;
  /** The mapped sources, which come first; `undefined` if each thread maps what it needs. */
  readonly sources: readonly MappedSource[] | undefined;
  readonly owner: Ownership;
  /** Whether to verify checksums of files, if the tree has any. */
  readonly verify: boolean;
  /** The fetch thread, if the tree has remote sources. */
  readonly fetching: FetchThread | undefined;
}

/** The threads that serve one mount, each on its own descriptor. They share the memory of the tree's tables. */
export class Server {
  /** Resolves when no thread serves or fetches any more, with the first failure, if any. */
  readonly ended: Promise<string | undefined>;
  readonly #end: (failure: string | undefined) => void;
  readonly #options: ServerOptions;
  readonly #connection = new ConnectionState();
  readonly #threads = new Set<ServingThread>();
  readonly #first: ServingThread;
  /** Returns the address of a thread's counters. Mapped lazily, since the first thread takes long to start. */
  #countsAt: ((thread: number) => number) | undefined;
  #started = 0;
  #message: CommonMessage | undefined;
  #fetching: FetchThread | undefined;
  #failure: string | undefined;
  readonly stops: (() => Promise<void>)[] = []; // called when no thread serves any more
  /** Duplicate of the first thread's descriptor, which that thread may close at any time. */
  #kept = -1;

  /** Starts the first thread, ahead of the tree; {@linkcode expand} starts the others. */
  constructor(options: ServerOptions) {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#end = resolve;
    this.#options = options;
    requireDescriptors(1, "thread that serves the mount");
    this.#first = this.#addThread();
  }

  get threads(): number {
    return this.#threads.size;
  }

  /** Rebuilds the tree in the first thread, so that nothing is mounted that cannot be served. */
  async prepare(
    { tree, sources, owner, verify, fetching }: Served,
  ): Promise<void> {
    const checks = verify ? newSampleChecks(tree) : undefined;
    this.#fetching = fetching;
    fetching?.mounted({
      nodes: checks?.nodes,
      counts: this.#countsOf(MOST_WORKERS),
    });
    this.#message = {
      kind: "prepare",
      handle: tree.share(),
      sources,
      workers: this.#options.workers,
      owner,
      connection: this.#connection.memory,
      listAhead: newListAheadMemory(),
      checks,
      trace: this.#options.onTrace !== undefined,
    };
    await this.#first.prepare(this.#message, fetching);
  }

  /** Serves a mounted descriptor, which the server takes over. Resolves after INIT; rejects if serving ends before. */
  async serve(fd: number): Promise<void> {
    const { held } = this.#options;
    const first = held === undefined ? fd : moveOnto(fd, held);
    this.#kept = duplicate(first);
    await this.#first.serve(first);
  }

  get agreed(): Agreed {
    return this.#connection.agreed;
  }

  /**
   * Takes over from a killed server that served through the held descriptors, with its result of INIT. The requests
   * which that one had not answered are answered first.
   */
  resume(agreed: Agreed): void {
    this.#connection.agree(agreed);
    const [fd] = this.#options.held!;
    askToResend(fd!);
    this.#kept = duplicate(fd!);
    this.#first.start(duplicate(fd!));
  }

  /** Starts the other threads. Must follow INIT, since the descriptor cannot be cloned before. */
  async expand(): Promise<void> {
    const missing = this.#options.workers - 1;
    const joining = Array.from(
      { length: missing },
      (_, i) => this.#join(i + 1),
    );
    await Promise.all(joining);
    this.#closeKept();
  }

  get onTrace(): ServerOptions["onTrace"] {
    return this.#options.onTrace;
  }

  log(message: string, options?: readonly NamedOption[]): void {
    this.#options.onLog(message, options);
  }

  /** Reports that serving has failed: waiting requests are never answered. */
  fail(why: string): void {
    this.#options.onFailure?.(why);
    this.log(`Cannot serve the mount any longer: ${why}. Unmount it`);
  }

  /** Ends the threads if nothing has been given to {@linkcode serve}. */
  abandon(): void {
    for (const thread of this.#threads) thread.abandon();
  }

  /** Makes each thread end after the next request it reads. The caller must then send as many requests. */
  stop(): void {
    this.#connection.stop();
  }

  async #join(index: number): Promise<void> {
    if (this.#threads.size === 0 || this.#connection.stopping) return;
    if (!hasDescriptors(1)) {
      const message =
        "The mount is served by one thread fewer: too many files are open. Raise the limit (ulimit -n)";
      return this.#options.onLog(message);
    }
    const thread = this.#addThread();
    try {
      await thread.prepare(this.#message!, this.#fetching);
    } catch {
      return; // reported like any end of a thread
    }
    // A thread that starts now might never be woken.
    if (this.#connection.stopping || this.#threads.size === 1) {
      return thread.abandon();
    }
    const clone = this.#cloneFor(index);
    if (clone >= 0) return thread.start(clone);
    thread.abandon();
    this.#options.onLog(
      `The mount is served by one thread fewer: cloning its descriptor failed: ${
        errorText(-clone)
      }`,
    );
  }

  #cloneFor(index: number): number {
    const held = this.#options.held?.[index];
    if (held !== undefined) return duplicate(held);
    return this.#kept < 0 ? this.#kept : cloneDevice(this.#kept);
  }

  #closeKept(): void {
    if (this.#kept >= 0) libc().close(this.#kept);
    this.#kept = -1;
  }

  #addThread(): ServingThread {
    const number = this.#started++;
    const thread = new ServingThread(
      number,
      this.#options,
      () => this.#countsOf(number),
    );
    this.#threads.add(thread);
    thread.ended.then((failure) => this.#remove(thread, failure));
    return thread;
  }

  /** Returns the address of a thread's counters, if counting is enabled. */
  #countsOf(thread: number): number | undefined {
    const { counts } = this.#options;
    if (counts === undefined) return undefined;
    this.#countsAt ??= mapCounts(counts);
    return this.#countsAt(thread);
  }

  #remove(thread: ServingThread, failure: string | undefined): void {
    this.#threads.delete(thread);
    if (failure !== undefined) this.#options.onFailure?.(failure);
    this.#failure ??= failure;
    const left = this.#threads.size;
    if (left === 0) {
      this.#closeKept(); // otherwise the kernel would consider the mount served
      const stopped = this.stops.map((stop) => stop());
      Promise.all(stopped).then(() => this.#end(this.#failure));
    } else if (failure !== undefined) {
      this.#options.onLog(
        `A serving thread ended, ${left} continue: ${failure}`,
      );
    }
  }
}

/**
 * Attaches held descriptors to a new mount, and closes the descriptor that it was mounted with. Returns a duplicate of
 * the first, which the serving thread closes.
 */
function moveOnto(fd: number, held: readonly number[]): number {
  try {
    for (const unused of held) {
      const errno = cloneOnto(fd, unused);
      if (errno === 0) continue;
      throw new MountError(
        "refused",
        `Cannot serve the mount: cloning its descriptor failed: ${
          errorText(errno)
        }`,
      );
    }
    return duplicate(held[0]!);
  } finally {
    libc().close(fd);
  }
}

/** Part of the message that is the same for all threads. */
type CommonMessage = Omit<PrepareMessage, "counts" | "fetching">;

/** Handle of one serving thread. */
class ServingThread {
  readonly ended: Promise<string | undefined>;
  readonly #worker: Worker;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #serving = Promise.withResolvers<void>();
  readonly #end: (failure: Error | undefined) => void;
  readonly #counts: () => number | undefined;
  readonly #number: number;
  #descriptor: ServedDescriptor | undefined;
  #fetching: FetchThread | undefined;
  #over = false;

  constructor(
    number: number,
    { onLog, onTrace }: ServerOptions,
    counts: () => number | undefined,
  ) {
    this.#number = number;
    this.#counts = counts;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#prepared.promise.catch(() => {}); // may reject while nobody waits
    this.#serving.promise.catch(() => {});
    this.#end = (failure) => {
      this.#over = true;
      // If a dead thread's descriptor stayed open, the requests it had read would wait for ever.
      this.#descriptor?.close();
      this.#fetching?.ended(this.#number);
      const error = new MountError(
        "server",
        `Cannot serve the mount: ${
          failure?.message ?? "it was unmounted at once"
        }`,
        { cause: failure },
      );
      this.#prepared.reject(error);
      this.#serving.reject(error);
      resolve(failure?.message);
    };
    threadsStart(1);
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: "recordfs mount",
    });
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => {
      if (data.kind === "prepared") this.#prepared.resolve();
      else if (data.kind === "serving") this.#serving.resolve();
      else if (data.kind === "log") onLog(data.message, data.options);
      else if (data.kind === "trace") onTrace?.(data.line);
      else this.#end(data.failure && deserializeError(data.failure));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault(); // otherwise it would end this process
      this.#end(new Error(event.message));
    };
  }

  prepare(
    given: CommonMessage,
    fetching: FetchThread | undefined,
  ): Promise<void> {
    this.#fetching = fetching;
    const message: PrepareMessage = {
      ...given,
      counts: this.#counts(),
      fetching: fetching?.reach(this.#number),
    };
    const { port, asking } = message.fetching ?? {};
    this.#worker.postMessage(message, port && asking ? [port, asking] : []);
    return this.#prepared.promise;
  }

  /** Serves a new connection. Resolves after INIT. */
  serve(fd: number): Promise<void> {
    this.start(fd);
    return this.#serving.promise;
  }

  /** Serves a descriptor, which the thread takes over. */
  start(fd: number): void {
    const descriptor = ServedDescriptor.of(fd);
    if (this.#over) return descriptor.close();
    this.#descriptor = descriptor;
    if (this.#fetching !== undefined) {
      const copy = duplicate(fd);
      // Without the duplicate, nobody could answer delegated reads.
      if (copy < 0) {
        this.#worker.terminate();
        return this.#end(new Error(errorText(-copy)));
      }
      this.#fetching.serve(this.#number, copy);
    }
    const message: ServeMessage = {
      kind: "serve",
      descriptor: descriptor.memory,
    };
    this.#worker.postMessage(message);
  }

  /** Ends the thread before it serves. */
  abandon(): void {
    this.#worker.terminate();
    this.#end(undefined);
  }
}
