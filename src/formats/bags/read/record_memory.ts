import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";

/** Options of reading without waiting. */
export interface ReadSyncOptions {
  /** The memory to read into; memory of their own where not given. */
  readonly memory?: GrowingMemory | undefined;
}

/** Options of reading. */
export interface ReadOptions extends ReadSyncOptions, WaitOptions {}
