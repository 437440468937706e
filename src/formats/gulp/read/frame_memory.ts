import type { GrowingMemory } from "../../../io/read/read_memory.ts";

export { GrowingMemory as FrameMemory } from "../../../io/read/read_memory.ts";

/** Options of reading frames as they are stored. */
export interface RawReadOptions {
  /** What to read into; memory of their own where not given. */
  readonly memory?: GrowingMemory | undefined;
}
