import { FormatError } from "../../base/errors.ts";
import { isRight, readAgain } from "../../io/read/verified_content.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { ChecksumKind } from "../../io/checksums/checksum.ts";
import { combineCrc32 } from "../../io/checksums/combine_crc32.ts";
import type { Span, Sums } from "../../io/checksums/range_sums.ts";
import { SPAN, spanSums } from "../../io/checksums/span_sums.ts";
import { type Extent, newExtent } from "../tree.ts";
import type { CheckRun } from "./check_run.ts";

/** Maximum numbers in a span's list of ranges: two per content. */
const MOST_RANGES = 2 << 14;

const PIECE = 8 << 20;

/** Contents numbered from 0, with checksums. */
export interface SummedContents {
  readonly length: number;
  readonly sources: readonly ByteSource[];
  readonly checksumKind: ChecksumKind;
  /** Locates a content; throws a {@linkcode FormatError} if its location is invalid. */
  locate(i: number, into: Extent): void;
  /** Makes the error for contents that overlap, and are longer than their files in total; absent if they cannot. */
  overlapping?(i: number, extent: Extent): FormatError;
  mismatch(i: number, expected: number, actual: number): FormatError;
}

/** Consecutive contents, or a piece of a long one. */
interface ContentSpan extends Span {
  readonly first: number;
  /** Whether this is a piece of a content that continues in the next span. */
  readonly isSequential: boolean;
  /** Why the content cannot be located; the span then has no ranges. */
  readonly error?: unknown;
}

/** Verifies contents against their checksums, in several threads if there are many. */
export async function checkContents(
  run: CheckRun,
  contents: SummedContents,
  onDamage: (i: number, error: unknown) => void = (_, error) =>
    run.damage(error),
): Promise<void> {
  const { sources, checksumKind } = contents;
  const bytes = sources.reduce((sum, { size }) => sum + size, 0);
  const pieces = new ContentPieces(checksumKind);
  const extent = newExtent();
  const spans = spansOf(contents, bytes);
  for await (const { span, sums } of spanSums(spans, bytes, run.signal)) {
    if (span.error !== undefined) {
      onDamage(span.first, span.error);
      continue;
    }
    for (const [i, sum] of wholeSums(span, sums, pieces)) {
      if (typeof sum !== "number") {
        onDamage(i, sum);
        continue;
      }
      contents.locate(i, extent);
      if (isRight(extent, sum)) continue;
      try {
        await run.run(
          readAgain(
            sources[extent.source]!,
            extent,
            new Uint8Array(Math.min(extent.length, PIECE)),
            (...sums) => contents.mismatch(i, ...sums),
            sum,
          ),
        );
      } catch (error) {
        onDamage(i, error);
      }
    }
    let done = 0;
    for (let i = 1; i < span.ranges.length; i += 2) done += span.ranges[i]!;
    run.advance(done);
  }
}

/** Splits all contents into spans, each within one file. */
function* spansOf(
  contents: SummedContents,
  bytes: number,
): Generator<ContentSpan, void, undefined> {
  const { sources, checksumKind } = contents;
  const extent = newExtent();
  const ranges: number[] = [];
  let [file, first, gathered, planned] = [0, 0, 0, 0];
  const span = (first: number, list: number[], isSequential = false) => ({
    source: sources[file]!,
    ranges: Float64Array.from(list),
    checksumKind,
    first,
    isSequential,
  });
  const gather = (): ContentSpan[] => {
    gathered = 0;
    return ranges.length === 0 ? [] : [span(first, ranges.splice(0))];
  };
  for (let i = 0; i < contents.length; i++) {
    try {
      contents.locate(i, extent);
      // Hostile input: overlapping contents in a small file would be checked for hours.
      if (planned + extent.length > bytes && contents.overlapping) {
        throw contents.overlapping(i, extent);
      }
      planned += extent.length;
    } catch (error) {
      yield* gather();
      yield { ...span(i, []), error };
      continue;
    }
    const { source, offset, length } = extent;
    if (source !== file || gathered + length > SPAN) yield* gather();
    file = source;
    if (length > SPAN) {
      for (let done = 0; done < length; done += SPAN) {
        const piece = [offset + done, Math.min(SPAN, length - done)];
        yield span(i, piece, done + SPAN < length);
      }
      continue;
    }
    if (ranges.length === 0) first = i;
    ranges.push(offset, length);
    gathered += length;
    if (ranges.length === MOST_RANGES) yield* gather();
  }
  yield* gather();
}

/** Yields the checksums of the contents that end in a span, or the errors instead. */
function* wholeSums(
  { first, ranges, isSequential }: ContentSpan,
  sums: Sums,
  pieces: ContentPieces,
): Generator<readonly [i: number, sum: number | FormatError], void, undefined> {
  for (let i = 0; i < sums.length; i++) {
    if (i === 0 && (isSequential || pieces.areOpen)) {
      pieces.add(sums[0]!, ranges[1]!);
      if (!isSequential) yield [first, pieces.end()];
    } else yield [first + i, sums[i]!];
  }
}

/** Combines the checksums of a long content's pieces. */
class ContentPieces {
  readonly #kind: ChecksumKind;
  #sum: number | FormatError | undefined;

  constructor(kind: ChecksumKind) {
    this.#kind = kind;
  }

  get areOpen(): boolean {
    return this.#sum !== undefined;
  }

  add(sum: number | FormatError, length: number): void {
    const before = this.#sum;
    if (before === undefined || typeof before !== "number") {
      this.#sum = before ?? sum;
    } else {
      this.#sum = typeof sum === "number"
        ? combineCrc32(this.#kind, before, sum, length)
        : sum;
    }
  }

  end(): number | FormatError {
    const sum = this.#sum!;
    this.#sum = undefined;
    return sum;
  }
}
