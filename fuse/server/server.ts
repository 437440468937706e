import { deserializeError } from "../../src/base/serialized_error.ts";
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

/** Options and listeners of a {@linkcode Server}. */
export interface ServerOptions {
  /** Number of serving threads. */
  readonly workers: number;
  readonly onLog: (message: string) => void;
  readonly onTrace: ((line: string) => void) | undefined;
  /**
   * Descriptors of /dev/fuse to serve through, which another process holds as well; `undefined` for
   * ones of this process alone. They stay the caller's.
   */
  readonly held: readonly number[] | undefined;
  /** Descriptor of the file that threads count in; `undefined` where nobody asks. */
  readonly counts: number | undefined;
  /** Told of each thread that failed, before anything else is done about it. */
  readonly onFailure: ((failure: string) => void) | undefined;
}

/** Content that a {@linkcode Server} serves. */
export interface Served {
  readonly tree: Tree;
  /** Those of its sources that are mapped, which come first; `undefined` where each thread maps what it needs. */
  readonly sources: readonly MappedSource[] | undefined;
  readonly owner: Ownership;
  /** True if files are compared with their checksums, where the tree has any. */
  readonly verify: boolean;
  /** Fetches what lies on servers, where there is such. */
  readonly fetching: FetchThread | undefined;
}

/**
 * The threads that serve one mount, each on a descriptor of its own, with the tree's tables in memory
 * that they share.
 */
export class Server {
  /** Settles when no thread serves any more, nor fetches; with what went wrong first, if anything. */
  readonly ended: Promise<string | undefined>;
  readonly #end: (failure: string | undefined) => void;
  readonly #options: ServerOptions;
  readonly #connection = new ConnectionState();
  /** Those that have not ended. */
  readonly #threads = new Set<ServingThread>();
  readonly #first: ServingThread;
  /** Where a thread counts; made when it is needed, since the first thread takes long to start. */
  #countsAt: ((thread: number) => number) | undefined;
  /** Number of threads so far, ended ones included. */
  #started = 0;
  #message: CommonMessage | undefined;
  #fetching: FetchThread | undefined;
  #failure: string | undefined;
  readonly stops: (() => Promise<void>)[] = []; // called when no thread serves any more
  /** A further number of the first thread's descriptor, which that one may close at any time. */
  #kept = -1;

  /** Starts the first thread, to be there when there is something to serve; {@linkcode expand} starts the others. */
  constructor(options: ServerOptions) {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#end = resolve;
    this.#options = options;
    requireDescriptors(1, "thread that serves the mount");
    this.#first = this.#addThread();
  }

  /** Number of threads. */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * Has the first thread rebuild the tree, so that nothing is mounted that can't be served.
   *
   * @throws {MountError} If the tree cannot be rebuilt there.
   */
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

  /**
   * Serves a mounted descriptor, which from now on belongs to the server.
   *
   * @returns When the kernel has been answered for the first time.
   * @throws {MountError} If serving ended before.
   */
  async serve(fd: number): Promise<void> {
    const { held } = this.#options;
    const first = held === undefined ? fd : moveOnto(fd, held);
    this.#kept = duplicate(first);
    await this.#first.serve(first);
  }

  /** Agreement made by INIT. */
  get agreed(): Agreed {
    return this.#connection.agreed;
  }

  /**
   * Goes on where another server was killed that served through the held descriptors: what that one
   * had not answered is answered first.
   *
   * @param agreed What INIT agreed on with that one.
   */
  resume(agreed: Agreed): void {
    this.#connection.agree(agreed);
    const [fd] = this.#options.held!;
    askToResend(fd!);
    this.#kept = duplicate(fd!);
    this.#first.start(duplicate(fd!));
  }

  /** Has the other threads serve as well; INIT came to the first, only now can it be cloned. */
  async expand(): Promise<void> {
    const missing = this.#options.workers - 1;
    const joining = Array.from(
      { length: missing },
      (_, i) => this.#join(i + 1),
    );
    await Promise.all(joining);
    this.#closeKept();
  }

  /** Reports a line about a request, where that is wanted. */
  get onTrace(): ServerOptions["onTrace"] {
    return this.#options.onTrace;
  }

  /** Reports a message. */
  log(message: string): void {
    this.#options.onLog(message);
  }

  /** Reports that it can't go on: what waits for an answer gets none from it. */
  fail(why: string): void {
    this.#options.onFailure?.(why);
    this.log(`The mount is not served any more, unmount it: ${why}`);
  }

  /** Ends the threads when nothing has been given to {@linkcode serve}. */
  abandon(): void {
    for (const thread of this.#threads) thread.abandon();
  }

  /** Has each thread end after the next request it reads; the mount must be asked as often then. */
  stop(): void {
    this.#connection.stop();
  }

  /** @param index Its number among the threads. */
  async #join(index: number): Promise<void> {
    if (this.#threads.size === 0 || this.#connection.stopping) return;
    if (!hasDescriptors(1)) {
      const message =
        "One thread less serves the mount: too many files are open. Raise the limit (ulimit -n)";
      return this.#options.onLog(message);
    }
    const thread = this.#addThread();
    try {
      await thread.prepare(this.#message!, this.#fetching);
    } catch {
      return; // it has been reported like any thread's end
    }
    // Nobody may be left to wake it.
    if (this.#connection.stopping || this.#threads.size === 1) {
      return thread.abandon();
    }
    const clone = this.#cloneFor(index);
    if (clone >= 0) return thread.start(clone);
    thread.abandon();
    this.#options.onLog(
      `One thread less serves the mount: cloning its descriptor failed: ${
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

  /** Where the thread of a number counts, if anybody asks. */
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
      this.#closeKept(); // or the kernel would take the mount for one that is still served
      const stopped = this.stops.map((stop) => stop());
      Promise.all(stopped).then(() => this.#end(this.#failure));
    } else if (failure !== undefined) {
      this.#options.onLog(
        `A thread that serves the mount ended, ${left} go on: ${failure}`,
      );
    }
  }
}

/**
 * Makes held descriptors those of a mount that was just made, in place of the one it was made with.
 *
 * @returns A number of the first, for the thread that serves it to close.
 * @throws {MountError} If that can't be done.
 */
function moveOnto(fd: number, held: readonly number[]): number {
  try {
    for (const unused of held) {
      const errno = cloneOnto(fd, unused);
      if (errno === 0) continue;
      throw new MountError(
        "refused",
        `The mount cannot be served: cloning its descriptor failed: ${
          errorText(errno)
        }`,
      );
    }
    return duplicate(held[0]!);
  } finally {
    libc().close(fd);
  }
}

/** What all threads are told alike. */
type CommonMessage = Omit<PrepareMessage, "counts" | "fetching">;

/** One thread that serves a mount, seen from outside. */
class ServingThread {
  readonly ended: Promise<string | undefined>;
  readonly #worker: Worker;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #serving = Promise.withResolvers<void>();
  readonly #end: (failure: Error | undefined) => void;
  readonly #counts: () => number | undefined;
  readonly #number: number;
  #descriptor: ServedDescriptor | undefined;
  /** What fetches for it. */
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
    this.#prepared.promise.catch(() => {}); // may fail when nobody waits for it
    this.#serving.promise.catch(() => {});
    this.#end = (failure) => {
      this.#over = true;
      // Left open by a thread that died, the requests that it had read would wait for ever.
      this.#descriptor?.close();
      this.#fetching?.ended(this.#number);
      const error = new MountError(
        "server",
        `The mount cannot be served: ${
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
      else if (data.kind === "log") onLog(data.message);
      else if (data.kind === "trace") onTrace?.(data.line);
      else this.#end(data.failure && deserializeError(data.failure));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault(); // or it would end this process
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
    if (this.#fetching !== undefined) {
      const copy = duplicate(fd);
      // Without, nobody would answer what it hands over.
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

  /** Ends the thread, which serves nothing yet. */
  abandon(): void {
    this.#worker.terminate();
    this.#end(undefined);
  }
}
