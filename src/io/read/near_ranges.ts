import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { readPart } from "./read_part.ts";

/** Largest gap between ranges that lie next to each other. */
const GAP = 64;

/** Bytes of a source. */
type ByteRange = readonly [offset: number, length: number];

/** Ranges of a source that are read together if they lie next to each other. */
export interface NearRanges {
  /** Span of all, with gaps. */
  readonly start: number;
  readonly end: number;
  /** Bytes of all. */
  readonly length: number;
  /** Whether the span is hardly longer. */
  readonly areNear: boolean;
}

/** Describes ranges. */
export function nearRanges(ranges: readonly ByteRange[]): NearRanges {
  let [start, end, length] = [Infinity, 0, 0];
  for (const [offset, bytes] of ranges) {
    if (bytes === 0) continue;
    start = Math.min(start, offset);
    end = Math.max(end, offset + bytes);
    length += bytes;
  }
  const areNear = length > 0 && end - start <= length + GAP * ranges.length;
  return { start, end, length, areNear };
}

/** Reads parts of a span of a source: all of it on the first read, or each part by itself. */
export class SpanReader {
  readonly #source: ByteSource;
  readonly #span: NearRanges | undefined;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  /** @param span What is read on the first read; without it, parts are read one by one. */
  constructor(source: ByteSource, span: NearRanges | undefined) {
    this.#source = source;
    this.#span = span;
  }

  /** Reads a part, which must lie in the span and in the source. The caller must not change the bytes. */
  *read(offset: number, length: number): Steps<Uint8Array<ArrayBuffer>> {
    const span = this.#span;
    if (span === undefined) {
      return yield* readPart(this.#source, offset, length);
    }
    const { start, end } = span;
    this.#bytes ??= yield* readPart(this.#source, start, end - start);
    return this.#bytes.subarray(offset - start, offset - start + length);
  }
}
