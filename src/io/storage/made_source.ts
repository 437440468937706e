import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";

/** A source whose bytes are made of those of another one, as they are read: decoded, or put together. */
export interface MadeSource extends ByteSource {
  /** Path of the file that they are made of, where it is one: who serves it looks whether that changes. */
  readonly storedIn: string | undefined;
  /** How many of its bytes are holes, which take no room where they were, and are zeros. */
  readonly holes?: number;
  /** Reads exactly `into.length` bytes, for who keeps them; left out where that is no other way to read. */
  fillToKeep?(into: Uint8Array, offset: number): Steps<void>;
}

/** Tells whether the bytes of a source are made as they are read. */
export function isMade(source: ByteSource): source is MadeSource {
  return "storedIn" in source;
}
