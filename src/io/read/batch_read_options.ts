import type { WaitOptions } from "../storage/byte_source.ts";
import type { BatchRoom } from "./read_memory.ts";

/** Options of reading a batch without waiting. */
export interface BatchReadSyncOptions {
  /**
   * What to read into: whatever has a method `take(length)` that gives so many bytes. It is called once,
   * for all bytes of the batch, each piece of which is then a view of what it gave, in the order of the
   * batch, at a multiple of 8 bytes from its start. Unless given, each piece has memory of its own, which
   * has to be cleared first: that costs as much as reading into it.
   */
  readonly memory?: BatchRoom | undefined;
}

/** Options of reading a batch. */
export interface BatchReadOptions extends BatchReadSyncOptions, WaitOptions {}
