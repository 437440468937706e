import type { Directory } from "../../../io/directories/directory.ts";
import { startThread } from "../../../io/concurrency/thread.ts";
import { SystemError } from "../../../io/libc/system_error.ts";
import { deserializeError } from "../../../serialized_error.ts";
import { SampleBlock } from "../write/sample_block.ts";
import type { ListingPlace, PackListing } from "./pack_listing.ts";
import type { FromPackThread, ToPackThread } from "./pack_messages.ts";
import { PackError } from "./pack_problem.ts";
import type { PackReader } from "./pack_reader.ts";

/** Reads files in another thread, as soon as they are listed. */
export class PackThread implements PackReader {
  readonly #worker: Worker;
  readonly #path: string;
  /** Blocks that were read and not asked for yet; at the end `undefined`. */
  readonly #read: (SampleBlock | undefined)[] = [];
  /** Up to where the thread knows the listing. */
  #told: ListingPlace = { chunk: 0, used: 0 };
  #failure: { readonly error: unknown } | undefined;
  /** Has whoever waits look again. */
  #wake: () => void = () => {};
  readonly #stopped = Promise.withResolvers<void>();

  private constructor(descriptor: number, path: string) {
    this.#path = path;
    const module = new URL("./pack_worker.ts", import.meta.url);
    this.#worker = startThread<FromPackThread>(module, "recordfs pack", {
      heard: (message) => this.#hear(message),
      died: (why) => this.#die(why),
    });
    this.#send({ kind: "start", descriptor, path });
  }

  /** Starts one, where the folder can be handed over and there is a processor for it. */
  static start({ descriptor, path }: Directory): PackThread | undefined {
    return descriptor !== undefined && navigator.hardwareConcurrency > 1
      ? new PackThread(descriptor, path)
      : undefined;
  }

  /** Says what there is to read, up to a place; what was said stays. */
  tell(listing: PackListing, upTo: ListingPlace | "whole"): void {
    const last = upTo === "whole" ? listing.mark() : upTo;
    for (let { chunk } = this.#told; chunk <= last.chunk; chunk++) {
      const { memory, used: all } = listing.chunks[chunk]!;
      const used = chunk === last.chunk ? last.used : all;
      if (chunk === this.#told.chunk && used === this.#told.used) continue;
      this.#send({ kind: "listed", chunk, memory, used });
      this.#told = { chunk, used };
    }
    if (upTo === "whole") this.#send({ kind: "listed-all" });
  }

  async next(): Promise<SampleBlock | undefined> {
    while (this.#read.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.error;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#read[0] === undefined ? undefined : this.#read.shift();
  }

  free({ memory }: SampleBlock): void {
    this.#send({ kind: "free", memory: memory as SharedArrayBuffer });
  }

  /** Ends the thread, once it has closed what it opened. */
  async close(): Promise<void> {
    this.#send({ kind: "stop" });
    await this.#stopped.promise;
    this.#worker.terminate();
  }

  #send(message: ToPackThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromPackThread): void {
    if (message.kind === "stopped") this.#stopped.resolve();
    else if (message.kind === "failed") {
      const error = deserializeError(message.error, PackError, SystemError);
      this.#failure = { error };
    } else {
      this.#read.push(
        message.kind === "end"
          ? undefined
          : new SampleBlock(message.memory, message.used, message.count),
      );
    }
    this.#wake();
  }

  #die(why: string): void {
    const path = this.#path;
    const message =
      `Cannot pack ${path}: the thread that reads it died: ${why}`;
    this.#failure = { error: new PackError("worker-died", message, { path }) };
    this.#stopped.resolve();
    this.#wake();
  }
}
