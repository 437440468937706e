import type { Directory } from "../../../io/dirfd/directory.ts";
import { yieldToEventLoop } from "../../../io/concurrency/event_loop.ts";
import { startThread } from "../../../io/concurrency/thread.ts";
import { SystemError } from "../../../io/libc/system_error.ts";
import { hasDescriptors } from "../../../io/storage/thread_descriptors.ts";
import { deserializeError } from "../../../base/serialized_error.ts";
import { SampleBlock } from "../write/sample_block.ts";
import type { ListingPlace, PackListing } from "./pack_listing.ts";
import type { FromPackThread, ToPackThread } from "./pack_messages.ts";
import { PackError } from "./pack_problem.ts";
import type { PackReader } from "./pack_reader.ts";
import { RunReader } from "./run_reader.ts";

interface ReadRun {
  readonly blocks: SampleBlock[];
  isWhole: boolean;
}

/** Reads files in another thread while they are listed, and in this one instead of waiting; both claim `PackRuns`. */
export class PackThread implements PackReader {
  readonly #worker: Worker;
  readonly #root: Directory;
  readonly #counter = new SharedArrayBuffer(4);
  #here: RunReader | undefined;
  readonly #read = new Map<number, ReadRun>();
  /** Run to return next, and the number of runs, once known. */
  #run = 0;
  #runs = Infinity;
  /** Position up to which the thread knows the listing. */
  #told: ListingPlace = { chunk: 0, used: 0 };
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};
  readonly #stopped = Promise.withResolvers<void>();

  private constructor(root: Directory, descriptor: number) {
    this.#root = root;
    const module = new URL("./pack_worker.ts", import.meta.url);
    this.#worker = startThread<FromPackThread>(module, "recordfs pack", {
      heard: (message) => this.#hear(message),
      died: (why) => this.#die(why),
    });
    const { path } = root;
    this.#send({ kind: "start", descriptor, path, counter: this.#counter });
  }

  /** Starts a thread if it can use the folder's descriptor and there is a second CPU. */
  static start(root: Directory): PackThread | undefined {
    const { descriptor } = root;
    return descriptor !== undefined && navigator.hardwareConcurrency > 1 &&
        hasDescriptors(1)
      ? new PackThread(root, descriptor)
      : undefined;
  }

  /** Sends the listing up to a position, which must be final. */
  tell(listing: PackListing, upTo: ListingPlace | "whole"): void {
    const last = upTo === "whole" ? listing.mark() : upTo;
    for (let { chunk } = this.#told; chunk <= last.chunk; chunk++) {
      const { memory, used: all } = listing.chunks[chunk]!;
      const used = chunk === last.chunk ? last.used : all;
      if (chunk === this.#told.chunk && used === this.#told.used) continue;
      this.#send({ kind: "listed", chunk, memory, used });
      this.#told = { chunk, used };
    }
    if (upTo !== "whole") return;
    this.#send({ kind: "listed-all" });
    this.#here = new RunReader(this.#root, listing, this.#counter);
  }

  async next(): Promise<SampleBlock | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const block = this.#take();
      if (block !== undefined) {
        if (!block.isEmpty) return block;
        this.free(block);
      } else if (this.#run === this.#runs) return undefined;
      else if (this.#here?.readAhead() === true) {
        // There may be no more runs.
        this.#runs = this.#here.runs ?? this.#runs;
        await yieldToEventLoop(); // also receives what was read meanwhile
      } else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  free(block: SampleBlock): void {
    const { memory } = block;
    if (memory instanceof SharedArrayBuffer) {
      this.#send({ kind: "free", memory });
    } else this.#here?.free(block);
  }

  /** Ends the thread once it has closed its files. */
  async close(): Promise<void> {
    this.#here?.close();
    this.#send({ kind: "stop" });
    await this.#stopped.promise;
    this.#worker.terminate();
  }

  #take(): SampleBlock | undefined {
    const here = this.#here;
    if (here?.owns(this.#run) === true) {
      const block = here.take(this.#run);
      if (!here.owns(this.#run)) this.#run++;
      return block;
    }
    const read = this.#read.get(this.#run);
    const block = read?.blocks.shift();
    if (read?.isWhole === true && read.blocks.length === 0) {
      this.#read.delete(this.#run++);
    }
    return block;
  }

  #send(message: ToPackThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromPackThread): void {
    if (message.kind === "stopped") this.#stopped.resolve();
    else if (message.kind === "failed") {
      const error = deserializeError(message.error, PackError, SystemError);
      this.#failure = { error };
    } else if (message.kind === "end") this.#runs = message.runs;
    else {
      const { memory, used, count, run, isLast } = message;
      let read = this.#read.get(run);
      if (read === undefined) {
        this.#read.set(run, read = { blocks: [], isWhole: false });
      }
      read.blocks.push(new SampleBlock(memory, used, count));
      read.isWhole = isLast;
    }
    this.#wake();
  }

  #die(why: string): void {
    const { path } = this.#root;
    const message =
      `Cannot pack ${path}: the thread that reads it died: ${why}`;
    this.#failure = { error: new PackError("worker-died", message, { path }) };
    this.#stopped.resolve();
    this.#wake();
  }
}
