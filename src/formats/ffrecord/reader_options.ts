import type { WaitOptions } from "../../io/byte_source.ts";
import type { BatchRoom } from "../../io/read_memory.ts";

/** Options of reading a batch without waiting. */
export interface BatchReadSyncOptions {
  /**
   * What to read into: whatever has a method `take(length)` that gives so many bytes. It is called once,
   * for all samples, which then are views of what it gave, in the order of the batch, each at a multiple
   * of 8 bytes from its start. Unless given, each sample has memory of its own, which has to be cleared
   * first: that costs as much as reading into it.
   */
  readonly memory?: BatchRoom | undefined;
}

/** Options of reading a batch. */
export interface BatchReadOptions extends BatchReadSyncOptions, WaitOptions {}

/**
 * What another thread needs to open the files of a reader: it survives `postMessage`, without copying
 * tables.
 */
export interface ReaderSeed {
  /** The files, and their tables in shared memory. */
  readonly files: unknown;
  /** Whether samples are compared with their checksums. */
  readonly checkData: boolean;
}
