import { concatBytes } from "../../../base/bytes_of.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { type Codec, MOST_LISTED, MOST_VALUES } from "../layout.ts";
import type { LibraryHeader, ParquetLibrary } from "../read/library.ts";
import type { Leaf } from "../values/schema.ts";
import {
  checkCount,
  checkValues,
  type PagePart,
  partOf,
  sizedPart,
  sizeOf,
} from "./check_page.ts";
import { decompressPage } from "./decompress_page.ts";
import { countLevels, readLevels, readRuns } from "./levels.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

const NO_LEVELS: Uint8Array = new Uint8Array(0);

/** Estimated bytes of a value in memory, and of a list with its spare capacity. */
const VALUE_WEIGHT = 16;
const LIST_WEIGHT = 200;

/** Values of a leaf, as decoded by the library. */
export type Values = ArrayLike<unknown>;

export interface PageDecoder {
  readonly leaf: Leaf;
  readonly codec: Codec;
  readonly library: ParquetLibrary;
}

export interface StoredPage {
  readonly header: LibraryHeader;
  readonly body: Uint8Array;
}

/** Data page with decoded levels and undecoded values. */
export interface OpenPage {
  /** Number of values, including nulls. */
  readonly count: number;
  readonly begun: number;
  readonly encoding: string;
  /** Levels of each value; empty if all are 0. */
  readonly repetition: Uint8Array;
  readonly definition: Uint8Array;
  readonly present: number;
  readonly values: PagePart;
}

/** Decodes a dictionary; returns it with its estimated bytes in memory. */
export function* decodeDictionary(
  { header, body }: StoredPage,
  { leaf, codec, library }: PageDecoder,
): Steps<{ readonly rows: Values; readonly weight: number }> {
  const count = header.dictionary_page_header?.num_values;
  if (count === undefined) {
    throw new CellFault("has a dictionary without a size");
  }
  checkCount(count);
  const { type, length } = leaf.field;
  const bytes = yield* decompressPage(
    body,
    codec,
    header.uncompressed_page_size,
    library,
  );
  const part = partOf(bytes);
  checkValues(part, "PLAIN", count, { type: type!, length }, library);
  const reader = { view: part.view, offset: 0 };
  const { stored } = leaf;
  const rows = library.readPlain(reader, stored.type, count, stored.length);
  return { rows, weight: bytes.length + VALUE_WEIGHT * count };
}

/** Decompresses a data page, and decodes its levels. */
export function* openPage(
  page: StoredPage,
  decoder: PageDecoder,
): Steps<OpenPage> {
  yield* perform(yieldWhenDue); // a column may have thousands of them
  return yield* (isSecond(page) ? openSecond : openFirst)(page, decoder);
}

/**
 * Decodes the repetition levels of a data page, in version 2 without decompressing it.
 *
 * @returns Per value: the list level that it continues; 0 at the start of a row.
 */
export function* repetitionOf(
  page: StoredPage,
  decoder: PageDecoder,
): Steps<Uint8Array> {
  if (isSecond(page)) return levelsOfSecond(page, decoder).repetition;
  const { count, bytes } = yield* bytesOfFirst(page, decoder);
  return levelsOfFirst(page, decoder, partOf(bytes), count).repetition;
}

/** Values of rows with their levels, from one or several pages. */
export interface RowEntries {
  /** Levels of each value; empty if all are 0. */
  readonly repetition: Uint8Array;
  readonly definition: Uint8Array;
  /** Non-null values. */
  readonly values: Values;
  /** Estimated bytes of the assembled rows. */
  readonly weight: number;
}

/**
 * Decodes the values of a range of rows of an opened page.
 *
 * @param dictionary Dictionary of the column chunk, if it has one.
 * @param from First row, among those that start in the page; `undefined` to include the continuation of an earlier row.
 * @param to Row after the last.
 */
export function decodeEntries(
  page: OpenPage,
  { leaf, library }: PageDecoder,
  dictionary: Values | undefined,
  from: number | undefined,
  to: number,
): RowEntries {
  const { count, repetition, definition, encoding, begun } = page;
  const isListed = leaf.maxRepetition > 0;
  let start = from ?? 0;
  let end = Math.min(to, count);
  if (isListed) {
    start = from === undefined ? 0 : rowStart(repetition, from);
    end = to >= begun ? count : rowStart(repetition, to);
  }
  const levels = definition.subarray(start, end);
  const { maxDefinition } = leaf;
  const isAll = definition.length === 0;
  const first = isAll
    ? start
    : countLevels(definition, maxDefinition, 0, start);
  const past = first +
    (isAll ? end - start : countLevels(levels, maxDefinition));
  const values = isOfDictionary(encoding)
    ? lookedUp(page, dictionary, first, past)
    : valuesOf(page, leaf, library, first, past);
  return {
    repetition: repetition.subarray(start, end),
    definition: levels,
    values,
    weight: page.values.bytes.length + VALUE_WEIGHT * (end - start) +
      (isListed ? LIST_WEIGHT * (to - (from ?? 0)) : 0),
  };
}

export function joinEntries(parts: readonly RowEntries[]): RowEntries {
  const [first, ...others] = parts;
  if (others.length === 0) return first!;
  return {
    repetition: concatBytes(parts.map(({ repetition }) => repetition)),
    definition: concatBytes(parts.map(({ definition }) => definition)),
    values: parts.flatMap(({ values }) => Array.from(values)),
    weight: parts.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** Assembles rows from values and levels, with nested lists. */
export function assembleRows(
  { repetition, definition, values }: RowEntries,
  { leaf: { schemaPath }, library }: PageDecoder,
): Values {
  const isFlat = schemaPath.length === 2 && repetition.length === 0;
  if (isFlat && values.length >= definition.length) return values;
  return library.assembleLists(
    [],
    definition as ArrayLike<number> as number[],
    repetition as ArrayLike<number> as number[],
    values as unknown[],
    schemaPath,
  );
}

/** Returns the index of the value that starts a given row of the page. */
function rowStart(repetition: Uint8Array, row: number): number {
  let at = -1;
  for (let begun = 0; begun <= row; begun++) {
    at = repetition.indexOf(0, at + 1);
    if (at < 0) throw new CellFault(`has a page without its row ${row}`);
  }
  return at;
}

/** Decodes a range of a page's values. With random-access encodings, only these are decoded. */
function valuesOf(
  { values: part, encoding, present }: OpenPage,
  { field, stored }: Leaf,
  library: ParquetLibrary,
  start: number,
  end: number,
): Values {
  if (start === end) return [];
  const { view } = part;
  if (encoding === "PLAIN" && field.type !== "BOOLEAN") {
    let offset = part.at;
    if (field.type !== "BYTE_ARRAY") {
      offset += sizeOf(field.type!, field.length, start);
    } else {
      for (let i = 0; i < start; i++) {
        offset += 4 + view.getUint32(offset, true);
      }
    }
    const reader = { view, offset };
    return library.readPlain(reader, stored.type, end - start, stored.length);
  }
  const { dataPage: all } = library.readDataPage(
    part.bytes.subarray(part.at, part.end),
    { num_values: present, encoding } as Parameters<
      ParquetLibrary["readDataPage"]
    >[1],
    stored.decoder,
  );
  if (start === 0 && end === all.length) return all;
  return ArrayBuffer.isView(all)
    ? all.subarray(start, end)
    : all.slice(start, end);
}

function isSecond({ header }: StoredPage): boolean {
  return header.data_page_header_v2 !== undefined;
}

/** Opens a page of version 1: levels and values are compressed together. */
function* openFirst(page: StoredPage, decoder: PageDecoder): Steps<OpenPage> {
  const { count, bytes, encoding } = yield* bytesOfFirst(page, decoder);
  const { repetition, rest } = levelsOfFirst(
    page,
    decoder,
    partOf(bytes),
    count,
  );
  const { maxDefinition } = decoder.leaf;
  let values = rest;
  let definition = NO_LEVELS;
  if (maxDefinition > 0) {
    requireRuns(page.header.data_page_header!.definition_level_encoding);
    const runs = sizedPart(values);
    definition = readLevels(runs, maxDefinition, count);
    values = { ...values, at: runs.end };
  }
  const levels = { repetition, definition };
  return openedPage(levels, values, count, encoding, decoder);
}

function* bytesOfFirst(
  { header, body }: StoredPage,
  { leaf, codec, library }: PageDecoder,
) {
  const head = header.data_page_header;
  if (head === undefined) throw new CellFault("has no header of data");
  const { num_values: count, encoding } = head;
  checkCount(count, mostOf(leaf, encoding));
  const size = header.uncompressed_page_size;
  const bytes = yield* decompressPage(body, codec, size, library);
  return { count, bytes, encoding };
}

function levelsOfFirst(
  { header }: StoredPage,
  { leaf: { maxRepetition } }: PageDecoder,
  part: PagePart,
  count: number,
): { readonly repetition: Uint8Array; readonly rest: PagePart } {
  if (maxRepetition === 0) return { repetition: NO_LEVELS, rest: part };
  requireRuns(header.data_page_header!.repetition_level_encoding);
  const runs = sizedPart(part);
  const repetition = readLevels(runs, maxRepetition, count);
  return { repetition, rest: { ...part, at: runs.end } };
}

/** Opens a page of version 2: levels precede the compressed part. */
function* openSecond(page: StoredPage, decoder: PageDecoder): Steps<OpenPage> {
  const { header, body } = page;
  const head = header.data_page_header_v2!;
  const { repetition, definition, size } = levelsOfSecond(page, decoder);
  const values = yield* decompressPage(
    body.subarray(size),
    head.is_compressed === false ? "UNCOMPRESSED" : decoder.codec,
    header.uncompressed_page_size - size,
    decoder.library,
  );
  const { num_values: count, encoding } = head;
  const levels = { repetition, definition };
  return openedPage(levels, partOf(values), count, encoding, decoder);
}

function levelsOfSecond(
  { header, body }: StoredPage,
  { leaf }: PageDecoder,
) {
  const { maxDefinition, maxRepetition } = leaf;
  const head = header.data_page_header_v2!;
  const { num_values: count, num_rows: rows } = head;
  checkCount(count, mostOf(leaf, head.encoding));
  const repetition = head.repetition_levels_byte_length;
  const definition = head.definition_levels_byte_length;
  const size = repetition + definition;
  const isRight = rows >= 0 && rows <= count && repetition >= 0 &&
    definition >= 0 && size <= body.length;
  if (!isRight) {
    throw new CellFault(
      `counts ${count} values, ${rows} rows, ${size} bytes of levels`,
    );
  }
  const levels = (most: number, start: number, end: number) =>
    most === 0 ? NO_LEVELS : readLevels(partOf(body, start, end), most, count);
  return {
    repetition: levels(maxRepetition, 0, repetition),
    definition: levels(maxDefinition, repetition, size),
    size,
  };
}

function openedPage(
  { repetition, definition }: Pick<OpenPage, "definition" | "repetition">,
  values: PagePart,
  count: number,
  encoding: string,
  { leaf, library }: PageDecoder,
): OpenPage {
  const { maxDefinition, maxRepetition, field } = leaf;
  const present = maxDefinition === 0
    ? count
    : countLevels(definition, maxDefinition);
  const kind = { type: field.type!, length: field.length };
  checkValues(values, encoding, present, kind, library);
  const begun = maxRepetition === 0 ? count : countLevels(repetition, 0);
  return { count, begun, encoding, repetition, definition, present, values };
}

function requireRuns(encoding: string | undefined): void {
  if (encoding === "RLE") return;
  throw new CellFault(
    "has levels in the unsupported encoding " +
      `${encoding ?? "of an unknown number"}`,
    "unsupported",
  );
}

/** Maximum number of values of a page: higher if a subset of its rows can be decoded. */
function mostOf({ maxRepetition }: Leaf, encoding: string): number {
  const isPlaced = encoding === "PLAIN" || isOfDictionary(encoding);
  return maxRepetition > 0 && isPlaced ? MOST_LISTED : MOST_VALUES;
}

/** Whether values are dictionary indices. */
export function isOfDictionary(encoding: string | undefined): boolean {
  return encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY";
}

/** Looks up a range of a page's values in the dictionary. */
function lookedUp(
  { values: part }: OpenPage,
  dictionary: Values | undefined,
  start: number,
  end: number,
): Values {
  const values = new Array<unknown>(end - start);
  if (start === end) return values;
  if (dictionary === undefined) {
    throw new CellFault(
      "refers to a dictionary, and none precedes it",
    );
  }
  const numbers = new Uint32Array(end - start);
  const bits = part.bytes[part.at]!;
  readRuns({ ...part, at: part.at + 1 }, bits, start, numbers);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    if (number >= dictionary.length) {
      throw new CellFault(
        `refers to value ${number} of a dictionary of ${dictionary.length}`,
      );
    }
    values[i] = dictionary[number];
  }
  return values;
}
