import { viewOf } from "../../../base/view_of.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readParsed } from "../../../io/read/verified_content.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { LARGEST_PAGE } from "../layout.ts";
import { BadThrift, thriftEnd } from "../read/check_thrift.ts";
import { brief, exactNumber } from "../read/footer_message.ts";
import { Chunk } from "../read/parquet_index.ts";
import type { LibraryHeader, ParquetLibrary } from "../read/library.ts";
import type { Leaf } from "../values/schema.ts";
import type { StoredPage } from "./decode_page.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

/** Initial and maximum bytes read to find a header, which may contain minimum and maximum values. */
const HEADER_WINDOW = 1 << 10;
const LARGEST_HEADER = 16 << 20;
const MOST_PAGES = 1 << 20;
/** Maximum bytes of a column chunk to fetch as a whole when its headers are scanned. */
const FETCHED_WHOLE = 32 << 20;

/** Location of a column chunk, and its sizes. */
export interface ChunkPlace {
  readonly source: ByteSource;
  /** The chunk's entry of {@linkcode ParquetIndex.chunks}, indexed by {@linkcode Chunk}. */
  readonly numbers: Float64Array;
  readonly rows: number;
  readonly leaf: Leaf;
}

export interface ChunkPages {
  /** Per page: its offset, and its length including the header. */
  readonly starts: Float64Array;
  readonly lengths: Float64Array;
  /** Per page, plus one for all: number of rows of the row group that start before it. */
  readonly firsts: Float64Array;
  /** Number of pages whose rows are counted: all, unless only their levels determine that. */
  counted: number;
  /** Per page counted by its levels: whether it starts within a row. If missing, every page starts with a row. */
  readonly inside: Uint8Array | undefined;
  readonly dictionary:
    | { readonly start: number; readonly length: number }
    | undefined;
}

/** Finds a column chunk's pages by offset index, or by scanning headers. Throws if they contradict the footer. */
export function* chunkPages(
  place: ChunkPlace,
  library: ParquetLibrary,
): Steps<ChunkPages> {
  const { numbers, rows } = place;
  if (numbers[Chunk.LENGTH] === 0 || rows === 0) {
    if (rows > 0) throw new CellFault(`has no pages for ${rows} rows`);
    return {
      starts: new Float64Array(0),
      lengths: new Float64Array(0),
      firsts: new Float64Array(1),
      counted: 0,
      inside: undefined,
      dictionary: undefined,
    };
  }
  const indexed = numbers[Chunk.INDEX]! > 0
    ? yield* pagesByIndex(place, library)
    : undefined;
  return indexed ?? (yield* pagesByHeaders(place, library));
}

/** Finds pages by offset index; `undefined` if some start with the same row: only headers tell the empty ones. */
function* pagesByIndex(
  { source, numbers, rows }: ChunkPlace,
  library: ParquetLibrary,
): Steps<ChunkPages | undefined> {
  const length = numbers[Chunk.INDEX_LENGTH]!;
  if (length > LARGEST_HEADER) {
    throw new CellFault(
      `has an index of ${length} bytes, more than the limit of ` +
        `${LARGEST_HEADER}`,
      "too-large",
    );
  }
  const bytes = yield* readPart(source, numbers[Chunk.INDEX]!, length);
  if (thriftEndOf(bytes) < 0) throw new CellFault("has a truncated index");
  const { page_locations: pages } = library.readOffsetIndex({
    view: new DataView(bytes.buffer),
    offset: 0,
  });
  const [start, end] = [
    numbers[Chunk.START]!,
    numbers[Chunk.START]! + numbers[Chunk.LENGTH]!,
  ];
  const count = pages.length;
  const starts = new Float64Array(count);
  const lengths = new Float64Array(count);
  const firsts = new Float64Array(count + 1);
  firsts[count] = rows;
  let before = start;
  let isRepeated = false;
  for (const [i, page] of pages.entries()) {
    const { offset, compressed_page_size: size, first_row_index: row } = page;
    const [at, length, first] = [offset, size, row].map(exactNumber);
    if (at === undefined || length === undefined || first === undefined) {
      throw new CellFault(`has an index whose page ${i} lacks a number`);
    }
    const isRight = at >= before && length > 0 && at + length <= end &&
      (i === 0 ? first === 0 : first >= firsts[i - 1]!) && first <= rows;
    if (!isRight) {
      throw new CellFault(
        `has an index whose page ${i} would be at bytes ${at} to ${
          at + length
        }, from row ${first} on`,
      );
    }
    isRepeated ||= i > 0 && first === firsts[i - 1] || first === rows;
    [starts[i], lengths[i], firsts[i]] = [at, length, first];
    before = at + length;
  }
  if (count === 0) {
    throw new CellFault(`has an index of no pages for ${rows} rows`);
  }
  if (isRepeated) return undefined;
  const dictionary = starts[0]! > start
    ? { start, length: starts[0]! - start }
    : undefined;
  return {
    starts,
    lengths,
    firsts,
    counted: count,
    inside: undefined,
    dictionary,
  };
}

function* pagesByHeaders(
  { source, numbers, rows, leaf }: ChunkPlace,
  library: ParquetLibrary,
): Steps<ChunkPages> {
  const start = numbers[Chunk.START]!;
  const end = start + numbers[Chunk.LENGTH]!;
  if (end - start <= FETCHED_WHOLE) source.prefetch?.(start, end - start);
  const starts: number[] = [];
  const lengths: number[] = [];
  const firsts: number[] = [0];
  let dictionary: ChunkPages["dictionary"];
  let [values, areCounted] = [0, true];
  for (let at = start; at < end && values < numbers[Chunk.VALUES]!;) {
    const { header, length } = yield* readHeader(source, at, end, library);
    const whole = length + header.compressed_page_size;
    if (at + whole > end) {
      throw new CellFault(`has a page at byte ${at} that extends beyond it`);
    }
    const head = header.data_page_header_v2 ?? header.data_page_header;
    if (header.type === "DICTIONARY_PAGE") {
      if (dictionary !== undefined || starts.length > 0) {
        throw new CellFault("has a dictionary after its first page");
      }
      dictionary = { start: at, length: whole };
    } else if (header.type === "DATA_PAGE" || header.type === "DATA_PAGE_V2") {
      if (head === undefined || !(head.num_values >= 0)) {
        throw new CellFault(`has a page at byte ${at} without a count`);
      }
      values += head.num_values;
      if (head.num_values > 0) {
        starts.push(at);
        lengths.push(whole);
        const count = header.data_page_header_v2?.num_rows ?? head.num_values;
        areCounted &&= leaf.maxRepetition === 0 ||
          header.data_page_header_v2 !== undefined && count > 0;
        firsts.push(firsts.at(-1)! + count);
      }
      if (starts.length > MOST_PAGES) {
        throw new CellFault(`has more than ${MOST_PAGES} pages`);
      }
    }
    at += whole;
  }
  if (
    values !== numbers[Chunk.VALUES] || areCounted && firsts.at(-1) !== rows
  ) {
    const what = values === numbers[Chunk.VALUES]
      ? `${firsts.at(-1)} rows in its pages, but ${rows}`
      : `${values} values in its pages, but ${numbers[Chunk.VALUES]}`;
    throw new CellFault(`has ${what} according to the footer`);
  }
  return {
    starts: Float64Array.from(starts),
    lengths: Float64Array.from(lengths),
    firsts: areCounted
      ? Float64Array.from(firsts)
      : new Float64Array(firsts.length),
    counted: areCounted ? starts.length : 0,
    inside: areCounted ? undefined : new Uint8Array(starts.length),
    dictionary,
  };
}

/**
 * Reads the header of a page, with more bytes if it is longer than expected.
 *
 * @param end End of the column chunk.
 * @returns The header and its length in bytes.
 * @throws {CellFault} If it is invalid or extends beyond `end`.
 */
export function* readHeader(
  source: ByteSource,
  at: number,
  end: number,
  library: ParquetLibrary,
): Steps<{ readonly header: LibraryHeader; readonly length: number }> {
  for (let window = HEADER_WINDOW;; window *= 16) {
    const bytes = yield* readPart(source, at, Math.min(window, end - at));
    const length = thriftEndOf(bytes);
    if (length >= 0) return { header: headerOf(bytes, library), length };
    if (bytes.length === end - at || window >= LARGEST_HEADER) {
      throw new CellFault(`has a page at byte ${at} whose header does not end`);
    }
  }
}

/** Splits a page into header and body. `check` verifies its CRC-32, if it has one. */
export function pageOf(
  bytes: Uint8Array,
  library: ParquetLibrary,
  check: boolean,
): StoredPage {
  const length = thriftEndOf(bytes);
  if (length < 0) throw new CellFault("has a page whose header does not end");
  const header = headerOf(bytes, library);
  const body = bytes.subarray(length, length + header.compressed_page_size);
  if (body.length !== header.compressed_page_size) {
    throw new CellFault(
      `has a page of ${header.compressed_page_size} bytes, and there are ${body.length}`,
    );
  }
  if (check && header.crc !== undefined && crc32Of(body) !== header.crc >>> 0) {
    throw new CellFault(
      "has a page with a checksum mismatch (CRC-32)",
      "sum",
    );
  }
  return { header, body };
}

/** Reads and parses a page, including its header. */
export function* readPage(
  source: ByteSource,
  start: number,
  length: number,
  parse: (bytes: Uint8Array) => StoredPage,
): Steps<StoredPage> {
  if (length <= LARGEST_PAGE) {
    return yield* readParsed(source, start, length, parse);
  }
  throw new CellFault(
    `has a page of ${length} bytes, more than the limit of ` +
      `${LARGEST_PAGE}. Write it in smaller pages`,
    "too-large",
  );
}

function headerOf(bytes: Uint8Array, library: ParquetLibrary): LibraryHeader {
  const view = viewOf(bytes);
  const header = library.parquetHeader({ view, offset: 0 });
  const { compressed_page_size: size, uncompressed_page_size: whole, crc } =
    header;
  const { data_page_header: first, data_page_header_v2: second } = header;
  const dictionary = header.dictionary_page_header;
  // The fields may be of any Thrift type.
  const numbers: [string, unknown][] = [
    ["size", size],
    ["size when decompressed", whole],
    ["CRC-32", crc ?? 0],
  ];
  if (first !== undefined) numbers.push(["number of values", first.num_values]);
  if (dictionary !== undefined) {
    numbers.push(["number of values", dictionary.num_values]);
  }
  if (second !== undefined) {
    numbers.push(
      ["number of values", second.num_values],
      ["number of rows", second.num_rows],
      ["size of definition levels", second.definition_levels_byte_length],
      ["size of repetition levels", second.repetition_levels_byte_length],
    );
  }
  const wrong = numbers.find(([, value]) => !Number.isInteger(value)) ??
    (size < 0 ? numbers[0] : undefined);
  if (wrong === undefined) return header;
  const [what, value] = wrong;
  throw new CellFault(
    `has a page whose header is damaged: its ${what} is ${brief(value)}`,
  );
}

function thriftEndOf(bytes: Uint8Array): number {
  try {
    return thriftEnd(bytes);
  } catch (error) {
    if (!(error instanceof BadThrift)) throw error;
    throw new CellFault(`has a header that ${error.message}`, "damaged", error);
  }
}
