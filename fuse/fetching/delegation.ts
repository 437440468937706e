import { blockOf, Known } from "../../src/io/remote/cache/block_store.ts";
import type { RemoteBlocks } from "../content/mapping.ts";
import type { Request } from "../wire/request.ts";
import type { DelegatedRequest, DelegatedSample } from "./fetch_messages.ts";

/** Delegates work of a serving thread to the fetch thread, which replies to the kernel itself. */
export class Delegation {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** Whether a range of an object is fully cached, so that it can be sent from the map. */
  isThere(
    { object, known, hits }: RemoteBlocks,
    start: number,
    length: number,
  ): boolean {
    if (known === undefined) return false;
    const last = blockOf(start + length - 1);
    for (let block = blockOf(start); block <= last; block++) {
      const state = Atomics.load(known, block);
      if (state < Known.Present) return false;
      if (state === Known.Marked) {
        // Only one of the threads that send it reports the block.
        const { Marked, Present } = Known;
        const was = Atomics.compareExchange(known, block, Marked, Present);
        if (was === Marked) this.#tell({ kind: "marked", object, block });
      }
    }
    if (hits !== undefined) Atomics.add(hits, 0, 1);
    return true;
  }

  /** Delegates a READ. `sample` is the sample that contains the bytes, if its checksum must be verified. */
  read(
    { uniqueLow, uniqueHigh, pid }: Request,
    { object }: RemoteBlocks,
    start: number,
    length: number,
    sample: DelegatedSample | undefined,
  ): void {
    this.#tell({
      kind: "read",
      uniqueLow,
      uniqueHigh,
      pid,
      object,
      start,
      length,
      sample,
    });
  }

  /** Reports that a link was read, so that the samples of the next links are prefetched. */
  link(node: number): void {
    this.#tell({ kind: "link", node });
  }

  #tell(message: DelegatedRequest): void {
    this.#port.postMessage(message);
  }
}
