import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { firstFrom } from "../../../tree/shared_numbers.ts";
import { readHeader } from "../pages/chunk_pages.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { FooterMessage } from "./footer_message.ts";
import type { ParquetLibrary } from "./library.ts";
import { Chunk, type ParquetIndex } from "./parquet_index.ts";

/** Maximum bytes that may be missing from a column chunk, as in Arrow. */
const MISSING = 100;

/** Returns all offsets that a footer mentions, and its own, ascending. */
function placesIn(
  { groups }: FooterMessage,
  footerStart: number,
): number[] {
  const places = groups.flatMap(({ chunks }) =>
    chunks.flatMap(({ data, dictionary, index, others }) =>
      [data, dictionary, index, ...others].map(Number)
    )
  );
  return [...places.filter((place) => place > 0), footerStart]
    .sort((a, b) => a - b);
}

/**
 * Corrects the lengths of column chunks by old versions of parquet-mr, which did not count the header of the dictionary
 * (PARQUET-816). The gap between such a chunk and the next offset in the footer is exactly as long as that header; this
 * is verified for the first chunk that has a gap.
 *
 * @param footerStart Offset of the footer in the file.
 * @param warn Called if there are such chunks.
 */
export function* lengthenChunks(
  source: ByteSource,
  library: ParquetLibrary,
  { chunks }: ParquetIndex,
  message: FooterMessage,
  footerStart: number,
  warn: (what: string) => void,
): Steps<void> {
  const short: { readonly at: number; readonly gap: number }[] = [];
  let places: readonly number[] | undefined;
  for (let at = 0; at < chunks.length; at += Chunk.FIELDS) {
    const length = chunks[at + Chunk.LENGTH]!;
    // Chunks with an offset index are by newer versions.
    if (length === 0 || chunks[at + Chunk.INDEX] !== 0) continue;
    places ??= placesIn(message, footerStart);
    const end = chunks[at + Chunk.START]! + length;
    const gap = (places[firstFrom(places, end)] ?? end) - end;
    if (gap > 0 && gap <= MISSING) short.push({ at, gap });
  }
  const [first] = short;
  if (first === undefined) return;
  const start = chunks[first.at + Chunk.START]!;
  const end = start + chunks[first.at + Chunk.LENGTH]!;
  const size = yield* dictionaryHeader(source, start, end, library);
  if (size !== first.gap) return;
  for (const { at, gap } of short) chunks[at + Chunk.LENGTH]! += gap;
  warn(
    `${short.length} column chunks are longer than its footer says, according to the headers of their dictionaries ` +
      "(PARQUET-816): they are read to their ends",
  );
}

/** Returns the length of a dictionary's header, or 0 if there is none. */
function* dictionaryHeader(
  source: ByteSource,
  start: number,
  end: number,
  library: ParquetLibrary,
): Steps<number> {
  try {
    const { header, length } = yield* readHeader(source, start, end, library);
    return header.type === "DICTIONARY_PAGE" ? length : 0;
  } catch (error) {
    if (error instanceof CellFault) return 0; // reading the rows reports the error
    throw error;
  }
}
