import { FormatError } from "../../base/errors.ts";
import { isRight, readAgain } from "../../io/read/verified_content.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { ChecksumKind } from "../../io/sums/checksum.ts";
import { combineCrc32 } from "../../io/sums/combine_crc32.ts";
import type { Span, Sums } from "../../io/sums/range_sums.ts";
import { SPAN, spanSums } from "../../io/sums/span_sums.ts";
import { type Extent, newExtent } from "../tree.ts";
import type { CheckRun } from "./check_run.ts";

/** Numbers in the list of a span's ranges: two a content. */
const MOST_RANGES = 2 << 14;

/** Bytes of a wrong content that are read again at a time. */
const PIECE = 8 << 20;

/** Contents that are numbered from 0, and have checksums. */
export interface SummedContents {
  readonly length: number;
  readonly sources: readonly ByteSource[];
  /** Kind of the checksums of all of them. */
  readonly checksumKind: ChecksumKind;
  /**
   * Says where a content is.
   *
   * @throws {FormatError} If it is nowhere.
   */
  locate(i: number, into: Extent): void;
  /** The error for a content that lies on others, so that all are longer together than their files; where any can. */
  overlapping?(i: number, extent: Extent): FormatError;
  /** The error for a content that does not have its checksum. */
  mismatch(i: number, expected: number, actual: number): FormatError;
}

/** Contents that follow each other, or a piece of a long one. */
interface ContentSpan extends Span {
  /** The first one. */
  readonly first: number;
  /** Whether the rest of that one, of which this is a piece, is in the next span. */
  readonly goesOn: boolean;
  /** Why the content can't be looked for; then there are no ranges. */
  readonly error?: unknown;
}

/**
 * Compares contents with their checksums, by several threads where there are many.
 *
 * @param onDamage Told of each that is damaged.
 */
export async function checkContents(
  run: CheckRun,
  contents: SummedContents,
  onDamage: (i: number, error: unknown) => void = (_, error) =>
    run.damage(error),
): Promise<void> {
  const { sources, checksumKind } = contents;
  const bytes = sources.reduce((sum, { size }) => sum + size, 0);
  const pieces = new Pieces(checksumKind);
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

/** All contents, in spans of which each is in one file. */
function* spansOf(
  contents: SummedContents,
  bytes: number,
): Generator<ContentSpan, void, undefined> {
  const { sources, checksumKind } = contents;
  const extent = newExtent();
  const ranges: number[] = [];
  let [file, first, gathered, planned] = [0, 0, 0, 0];
  const span = (first: number, list: number[], goesOn = false) => ({
    source: sources[file]!,
    ranges: Float64Array.from(list),
    checksumKind,
    first,
    goesOn,
  });
  const gather = (): ContentSpan[] => {
    gathered = 0;
    return ranges.length === 0 ? [] : [span(first, ranges.splice(0))];
  };
  for (let i = 0; i < contents.length; i++) {
    try {
      contents.locate(i, extent);
      // A small file with contents on top of each other would be checked for hours.
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

/** The checksums of a span's contents that end in it, or why there are none. */
function* wholeSums(
  { first, ranges, goesOn }: ContentSpan,
  sums: Sums,
  pieces: Pieces,
): Generator<readonly [i: number, sum: number | FormatError], void, undefined> {
  for (let i = 0; i < sums.length; i++) {
    if (i === 0 && (goesOn || pieces.areOpen)) {
      pieces.add(sums[0]!, ranges[1]!);
      if (!goesOn) yield [first, pieces.end()];
    } else yield [first + i, sums[i]!];
  }
}

/** The checksum of a long content, piece by piece. */
class Pieces {
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
