import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";

/** A source whose bytes are decoded or assembled from another source on read. */
export interface MadeSource extends ByteSource {
  /** Path of the underlying file, if any. Servers watch it for changes. */
  readonly storedIn: string | undefined;
  /** The underlying source, if any. */
  readonly origin?: ByteSource;
  /** Number of bytes in holes. They are zeros and took no space where they were stored. */
  readonly holes?: number;
  /** Reads exactly `into.length` bytes, for callers that cache them. Absent if no different from other reads. */
  fillToKeep?(into: Uint8Array, offset: number): Steps<void>;
}

/** Whether a source's bytes are computed on read. */
export function isMade(source: ByteSource): source is MadeSource {
  return "storedIn" in source;
}

/** Returns the source that a source is made from in the end, or itself. */
export function originOf(source: ByteSource): ByteSource {
  let origin = source;
  while (isMade(origin) && origin.origin !== undefined) origin = origin.origin;
  return origin;
}
