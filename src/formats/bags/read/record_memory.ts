import { RecordfsError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";

/** Options of reading without waiting. */
export interface ReadSyncOptions {
  /** The memory to read into; memory of their own where not given. */
  readonly memory?: GrowingMemory | undefined;
}

/** Options of reading. */
export interface ReadOptions extends ReadSyncOptions, WaitOptions {}

/** @throws {RecordfsError} If a reader has been closed. */
export function requireOpen(path: string, closed: boolean): void {
  if (!closed) return;
  throw new RecordfsError("closed", `${path} has been closed`, { path });
}
