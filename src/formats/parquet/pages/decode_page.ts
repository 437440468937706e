import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Codec } from "../layout.ts";
import type { LibraryHeader, ParquetLibrary } from "../read/library.ts";
import type { Leaf } from "../values/schema.ts";
import {
  bitsOf,
  checkCount,
  checkRuns,
  checkSizedRuns,
  checkValues,
  type PagePart,
  partOf,
} from "./check_page.ts";
import { decompressPage } from "./decompress_page.ts";
import { PageFault } from "./page_fault.ts";

/** The encoding of a page without any values, of which others may lack even their first byte. */
const NO_VALUES = "PLAIN";

/** Values of a leaf, as the library gives them. */
export type Values = ArrayLike<unknown>;

/** What pages of a column chunk are decoded by. */
export interface PageDecoder {
  readonly leaf: Leaf;
  readonly codec: Codec;
  readonly library: ParquetLibrary;
}

/** A page as it is stored: what its header says, and what is behind that. */
export interface StoredPage {
  readonly header: LibraryHeader;
  readonly body: Uint8Array;
}

/** A page that was decoded. */
export interface DecodedPage {
  /** By rows; lists within them, as deep as the leaf is. */
  readonly rows: Values;
  /** About how many bytes it keeps in memory. */
  readonly weight: number;
}

/** Decodes the values that others are numbers of. */
export function* decodeDictionary(
  { header, body }: StoredPage,
  { leaf, codec, library }: PageDecoder,
): Steps<DecodedPage> {
  const count = header.dictionary_page_header?.num_values ?? NaN;
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
  const rows = library.readPlain(reader, type!, count, length);
  return { rows, weight: bytes.length + 16 * count };
}

/**
 * Decodes a page of data.
 *
 * @param dictionary What its values are numbers in, if they are.
 * @param before Rows of the page before it, the last of which may go on in this one: its own are added to these.
 */
export function* decodePage(
  page: StoredPage,
  decoder: PageDecoder,
  dictionary: Values | undefined,
  before: unknown[] = [],
): Steps<DecodedPage> {
  const { leaf, library } = decoder;
  const isSecond = page.header.data_page_header_v2 !== undefined;
  const raw = yield* (isSecond ? decodeSecond : decodeFirst)(page, decoder);
  const { count, bytes, encoding } = raw;
  if (count === 0) return { rows: before, weight: 0 };
  const { repetitionLevels = [], definitionLevels = [] } = raw.page;
  let values: Values = raw.page.dataPage;
  if (encoding.endsWith("_DICTIONARY")) {
    values = lookedUp(values, dictionary);
  }
  const { maxDefinition, maxRepetition } = leaf;
  if (definitionLevels.length > 0) {
    checkLevels(definitionLevels, maxDefinition, values.length);
  } else if (maxRepetition === 0 && values.length !== count) {
    throw new PageFault(`has ${values.length} values of ${count}`);
  }
  checkLevels(repetitionLevels, maxRepetition, undefined);
  if (before.length === 0 && (repetitionLevels[0] ?? 0) > 0) {
    throw new PageFault("goes on with a row that has not begun");
  }
  const rows = library.assembleLists(
    before,
    definitionLevels,
    repetitionLevels,
    values as unknown[],
    leaf.decoder.schemaPath,
  );
  return { rows, weight: bytes + 16 * count };
}

/** What the library made of a page before it is put together. */
interface RawPage {
  readonly page: {
    readonly definitionLevels?: number[] | undefined;
    readonly repetitionLevels?: number[] | undefined;
    readonly dataPage: Values;
  };
  readonly count: number;
  readonly bytes: number;
  readonly encoding: string;
}

/** A page of version 1: levels and values are compressed together. */
function* decodeFirst(
  { header, body }: StoredPage,
  { leaf, codec, library }: PageDecoder,
): Steps<RawPage> {
  const head = header.data_page_header;
  if (head === undefined) throw new PageFault("has no header of data");
  const { num_values: count, encoding } = head;
  checkCount(count);
  const bytes = yield* decompressPage(
    body,
    codec,
    header.uncompressed_page_size,
    library,
  );
  const { maxDefinition, maxRepetition, field, decoder } = leaf;
  const part = partOf(bytes);
  let at = 0;
  if (maxRepetition > 0) {
    requireRuns(head.repetition_level_encoding);
    at = checkSizedRuns(part, bitsOf(maxRepetition), count);
  }
  let present = count;
  if (maxDefinition > 0) {
    requireRuns(head.definition_level_encoding);
    const start = at;
    at = checkSizedRuns({ ...part, at }, bitsOf(maxDefinition), count);
    present = presentIn({ ...part, at: start }, leaf, count, library);
  }
  const { type, length } = field;
  checkValues(
    { ...part, at },
    encoding,
    present,
    { type: type!, length },
    library,
  );
  const page = library.readDataPage(
    bytes,
    present > 0 ? head : { ...head, encoding: NO_VALUES },
    decoder,
  );
  return { page, count, bytes: bytes.length, encoding };
}

/** How many values there are, as levels say before the library takes memory for them. */
function presentIn(
  part: PagePart,
  { maxDefinition }: Leaf,
  count: number,
  library: ParquetLibrary,
  length?: number,
): number {
  const levels = new Array<number>(count);
  const reader = { view: part.view, offset: part.at };
  library.readLevels(reader, bitsOf(maxDefinition), levels, length);
  let present = 0;
  for (const level of levels) if (level === maxDefinition) present++;
  return present;
}

/** A page of version 2: levels stand before what is compressed. */
function* decodeSecond(
  { header, body }: StoredPage,
  { leaf, codec, library }: PageDecoder,
): Steps<RawPage> {
  const head = header.data_page_header_v2!;
  const { num_values: count, num_rows: rows, encoding } = head;
  checkCount(count);
  const repetition = head.repetition_levels_byte_length;
  const definition = head.definition_levels_byte_length;
  const levels = repetition + definition;
  const isRight = rows >= 0 && rows <= count && repetition >= 0 &&
    definition >= 0 && levels <= body.length;
  if (!isRight) {
    throw new PageFault(
      `counts ${count} values, ${rows} rows, ${levels} bytes of levels`,
    );
  }
  const size = header.uncompressed_page_size - levels;
  const isPlain = head.is_compressed === false;
  const stored = body.subarray(levels);
  const values = yield* decompressPage(
    stored,
    isPlain ? "UNCOMPRESSED" : codec,
    size,
    library,
  );
  const bytes = values === stored
    ? body
    : joined(body.subarray(0, levels), values);
  const { maxDefinition, maxRepetition, field, decoder } = leaf;
  checkRuns(
    partOf(bytes, 0, repetition),
    bitsOf(maxRepetition),
    maxRepetition > 0 ? count : 0,
  );
  let present = count;
  if (maxDefinition > 0) {
    const part = partOf(bytes, repetition, levels);
    checkRuns(part, bitsOf(maxDefinition), count);
    present = presentIn(part, leaf, count, library, definition);
  }
  const kind = { type: field.type!, length: field.length };
  checkValues(partOf(bytes, levels), encoding, present, kind, library);
  const plain = {
    ...head,
    "is_compressed": false,
    // As the library counts them: also those that are no values since a list is empty.
    "num_nulls": count - present,
    encoding: present > 0 ? encoding : NO_VALUES,
  };
  const page = library.readDataPageV2(
    bytes,
    { ...header, data_page_header_v2: plain },
    decoder,
  );
  return { page, count, bytes: bytes.length, encoding };
}

function requireRuns(encoding: string | undefined): void {
  if (encoding === "RLE") return;
  throw new PageFault(
    `has levels encoded as ${
      encoding ?? "nothing that is known"
    }, which is not read`,
    "unsupported",
  );
}

/** Values by their numbers. */
function lookedUp(numbers: Values, dictionary: Values | undefined): Values {
  const { length } = numbers;
  if (dictionary === undefined) {
    if (length === 0) return [];
    throw new PageFault(
      "has numbers of values, and there is no dictionary before it",
    );
  }
  const values = new Array<unknown>(length);
  for (let i = 0; i < length; i++) {
    const number = numbers[i] as number;
    if (!(number < dictionary.length)) {
      throw new PageFault(
        `has value ${number} of a dictionary of ${dictionary.length}`,
      );
    }
    values[i] = dictionary[number];
  }
  return values;
}

function checkLevels(
  levels: readonly number[],
  most: number,
  full: number | undefined,
): void {
  let found = 0;
  for (const level of levels) {
    if (level > most) throw new PageFault(`has level ${level} of ${most}`);
    if (level === most) found++;
  }
  if (full !== undefined && found !== full) {
    throw new PageFault(`has ${full} values, and levels of ${found}`);
  }
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(before.length + after.length);
  bytes.set(before);
  bytes.set(after, before.length);
  return bytes;
}
