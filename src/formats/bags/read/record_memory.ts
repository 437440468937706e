import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";

/** Options of synchronous reads. */
export interface ReadSyncOptions {
  /** Memory to read into. Defaults to new memory. */
  readonly memory?: GrowingMemory | undefined;
}

/** Options of reads. */
export interface ReadOptions extends ReadSyncOptions, WaitOptions {}
