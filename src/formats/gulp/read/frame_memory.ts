import type { GrowingMemory } from "../../../io/read/read_memory.ts";

export { GrowingMemory as FrameMemory } from "../../../io/read/read_memory.ts";

/** Options for reading frames as stored. */
export interface RawReadOptions {
  /** Memory to read into; newly allocated by default. */
  readonly memory?: GrowingMemory | undefined;
}
