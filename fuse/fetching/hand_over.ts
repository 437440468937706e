import { blockOf, Known } from "../../src/io/remote/cache/block_store.ts";
import type { RemoteBlocks } from "../content/mapping.ts";
import type { Request } from "../wire/request.ts";
import type { HandedOver, HandedSample } from "./fetch_messages.ts";

/** What a serving thread hands to the one that fetches, which answers the kernel itself. */
export class HandOver {
  readonly #port: MessagePort;

  /** @param port Leads to that thread. */
  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** Tells whether bytes of an object are all there, to be sent from its map. */
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
        // Of the threads that send it, one tells.
        const { Marked, Present } = Known;
        const was = Atomics.compareExchange(known, block, Marked, Present);
        if (was === Marked) this.#tell({ kind: "marked", object, block });
      }
    }
    if (hits !== undefined) Atomics.add(hits, 0, 1);
    return true;
  }

  /**
   * Has a READ be answered when its bytes have been fetched.
   *
   * @param start Where they are in the object.
   * @param sample What they are of, if that is to be compared with its checksum.
   */
  read(
    { uniqueLow, uniqueHigh, pid }: Request,
    { object }: RemoteBlocks,
    start: number,
    length: number,
    sample: HandedSample | undefined,
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

  /** Says that a link was read: who reads others like it comes to the next ones. */
  link(node: number): void {
    this.#tell({ kind: "link", node });
  }

  #tell(message: HandedOver): void {
    this.#port.postMessage(message);
  }
}
