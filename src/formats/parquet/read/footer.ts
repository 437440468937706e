import { FormatError, type FormatErrorCode } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { sharedFloat64 } from "../../../tree/shared_numbers.ts";
import {
  CODECS,
  ENCRYPTED_MAGIC,
  LARGEST_FOOTER,
  MAGIC,
  MAGIC_SIZE,
  TAIL_SIZE,
} from "../layout.ts";
import { type Field, fieldsOf } from "../values/schema.ts";
import { sniffedSuffix, suffixOfPath } from "../values/suffix.ts";
import { mediaOf } from "../values/schema.ts";
import { BadThrift, thriftEnd } from "./check_thrift.ts";
import { loadLibrary, type ParquetLibrary } from "./library.ts";

/** What is read of a file's end at first: most footers are in it. */
const FIRST_READ = 1 << 16;
/** Bytes of the signature behind a footer that can be read although columns are encrypted. */
const SIGNATURE = 28;
/** Bytes of a least or greatest value that are kept to tell what kind of file it is. */
const HINT = 300;

/** Numbers of a column chunk, in {@linkcode ParquetIndex.chunks}. */
export const Chunk = {
  START: 0,
  LENGTH: 1,
  VALUES: 2,
  CODEC: 3,
  /** Where its data pages begin: behind the dictionary, if that says where it is. */
  DATA: 4,
  /** Where its offset index is, or 0, and how long that is. */
  INDEX: 5,
  INDEX_LENGTH: 6,
  FIELDS: 7,
} as const;

/** What is known of a file by its footer: plain data, whose tables are in memory that threads share. */
export interface ParquetIndex {
  readonly columns: readonly Field[];
  /** Leaves of all columns. */
  readonly leaves: number;
  /** Per row group, and once more for all: the number of its first row. */
  readonly firsts: Float64Array;
  /** Per row group, per leaf: {@linkcode Chunk}. */
  readonly chunks: Float64Array;
  /** Per column: what names of its files end in, where the footer has said so. */
  readonly suffixes: readonly (string | undefined)[];
}

type Metadata = ReturnType<ParquetLibrary["parquetMetadata"]>;
type RowGroup = Metadata["row_groups"][number];
type ColumnChunk = RowGroup["columns"][number];

/**
 * Reads the footer of a file.
 *
 * @throws {FormatError} If it is damaged, lies, or is encrypted.
 */
export function* readFooter(source: ByteSource): Steps<ParquetIndex> {
  const library = yield* loadLibrary(source.name);
  const footer = yield* readBytes(source);
  try {
    const end = thriftEnd(footer);
    const rest = footer.length - TAIL_SIZE - end;
    if (end < 0 || rest !== 0 && rest !== SIGNATURE) {
      throw fault(source, "its footer does not end where it says");
    }
    const metadata = library.parquetMetadata(footer, {
      geoparquet: false,
      parsers: { stringFromBytes: (bytes) => bytes?.slice(0, HINT) },
    });
    return indexOf(source, metadata);
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const isTooMuch = cause instanceof BadThrift && why.includes("more than");
    throw fault(
      source,
      `its footer is damaged (${why})`,
      isTooMuch ? "too-large" : "bad-structure",
      cause,
    );
  }
}

/** The footer with the bytes behind it, in memory of their own. */
function* readBytes(source: ByteSource): Steps<Uint8Array<ArrayBuffer>> {
  const { size } = source;
  if (size < MAGIC_SIZE + TAIL_SIZE) {
    throw fault(
      source,
      `it has ${size} bytes: it is no Parquet, or was cut`,
      "truncated",
    );
  }
  const first = Math.min(size, FIRST_READ);
  const end = yield* readPart(source, size - first, first);
  const tail = new DataView(end.buffer, end.length - TAIL_SIZE);
  const magic = tail.getUint32(4, true);
  if (magic === ENCRYPTED_MAGIC) throw encrypted(source, "its footer is");
  if (magic !== MAGIC) {
    throw fault(
      source,
      "it does not end in PAR1: it was cut, or not written to its end, or is no Parquet",
      "truncated",
    );
  }
  const length = tail.getUint32(0, true);
  const most = size - MAGIC_SIZE - TAIL_SIZE;
  if (length > most) {
    throw fault(
      source,
      `its footer would have ${length} bytes, and there are ${most} before its end`,
    );
  }
  if (length > LARGEST_FOOTER) {
    throw fault(
      source,
      `its footer has ${length} bytes, and up to ${LARGEST_FOOTER} are read`,
      "too-large",
    );
  }
  const whole = length + TAIL_SIZE;
  if (whole <= end.length) return end.slice(end.length - whole);
  const footer = new Uint8Array(whole);
  footer.set(yield* readPart(source, size - whole, whole - end.length));
  footer.set(end, whole - end.length);
  return footer;
}

function indexOf(source: ByteSource, metadata: Metadata): ParquetIndex {
  const columns = fieldsOf(metadata.schema);
  const leaves = columns.reduce((sum, { leaves }) => sum + leaves, 0);
  const flat = columns.flatMap(leavesOf);
  const groups = metadata.row_groups;
  const firsts = sharedFloat64(groups.length + 1);
  const chunks = sharedFloat64(groups.length * leaves * Chunk.FIELDS);
  for (const [g, group] of groups.entries()) {
    const rows = whole(source, group.num_rows, "rows of a row group");
    firsts[g + 1] = firsts[g]! + rows;
    if (group.columns.length !== leaves) {
      throw fault(
        source,
        `row group ${g} has ${group.columns.length} columns, and the footer ${leaves}`,
      );
    }
    for (const [leaf, chunk] of group.columns.entries()) {
      const at = (g * leaves + leaf) * Chunk.FIELDS;
      const numbers = numbersOf(source, chunk, flat[leaf]!, g);
      chunks.set(numbers, at);
      const isOnce = flat[leaf]!.isOnce;
      if (isOnce && numbers[Chunk.VALUES] !== rows) {
        throw fault(
          source,
          `row group ${g} has ${rows} rows, and ${
            numbers[Chunk.VALUES]
          } values in its column '${flat[leaf]!.name}'`,
        );
      }
    }
  }
  const rows = whole(source, metadata.num_rows, "rows");
  if (
    firsts.at(-1) !== rows || !Number.isSafeInteger(rows * (columns.length + 1))
  ) {
    throw fault(
      source,
      `its footer counts ${rows} rows, and ${firsts.at(-1)} in its row groups`,
      "absurd-count",
    );
  }
  const [first] = groups;
  const suffixes = columns.map((column) => first && suffixIn(column, first));
  return { columns, leaves, firsts, chunks, suffixes };
}

interface FlatLeaf {
  readonly name: string;
  readonly type: string;
  readonly isOnce: boolean;
}

function leavesOf(column: Field): FlatLeaf[] {
  const leaves: FlatLeaf[] = [];
  const walk = (field: Field, once: boolean): void => {
    const isOnce = once && field.repetition !== "REPEATED";
    if (field.type !== undefined) {
      leaves.push({ name: column.name, type: field.type, isOnce });
    }
    for (const part of field.parts) walk(part, isOnce);
  };
  walk(column, true);
  return leaves;
}

function numbersOf(
  source: ByteSource,
  chunk: ColumnChunk,
  { name, type }: FlatLeaf,
  group: number,
): number[] {
  const where = `column '${name}' of row group ${group}`;
  const { meta_data: meta } = chunk;
  if (
    chunk.crypto_metadata !== undefined ||
    chunk.encrypted_column_metadata !== undefined
  ) {
    throw encrypted(source, `${where} is`);
  }
  if (chunk.file_path !== undefined) {
    throw fault(
      source,
      `${where} lies in another file (${chunk.file_path}), which is not followed: open the files that have the data`,
      "unsupported",
    );
  }
  if (meta === undefined) throw fault(source, `${where} has no metadata`);
  if (meta.type !== type) {
    throw fault(
      source,
      `${where} is stored as ${meta.type}, and declared as ${type}`,
    );
  }
  const data = whole(source, meta.data_page_offset, `place of ${where}`);
  const dictionary = whole(
    source,
    meta.dictionary_page_offset ?? 0n,
    `dictionary of ${where}`,
  );
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const length = whole(source, meta.total_compressed_size, `size of ${where}`);
  const values = whole(source, meta.num_values, `values of ${where}`);
  const isEmpty = length === 0 || values === 0; // some write no place then
  if (
    !isEmpty && (start < MAGIC_SIZE || start + length > source.size - TAIL_SIZE)
  ) {
    throw fault(
      source,
      `${where} would be at bytes ${start} to ${
        start + length
      }, and the file has ${source.size}`,
      "out-of-bounds",
    );
  }
  const codec = CODECS.indexOf(meta.codec);
  if (codec < 0) {
    throw fault(
      source,
      `${where} is compressed by a codec that nobody knows`,
      "unsupported",
    );
  }
  const index = whole(
    source,
    chunk.offset_index_offset ?? 0n,
    `index of ${where}`,
  );
  const indexLength = whole(
    source,
    chunk.offset_index_length ?? 0,
    `index of ${where}`,
  );
  const hasIndex = index > 0 && indexLength > 0;
  if (hasIndex && index + indexLength > source.size - TAIL_SIZE) {
    throw fault(
      source,
      `the index of ${where} would lie behind the file's end`,
      "out-of-bounds",
    );
  }
  return [
    start,
    isEmpty ? 0 : length,
    values,
    codec,
    data,
    hasIndex ? index : 0,
    hasIndex ? indexLength : 0,
  ];
}

/** What names of a column's files end in, by its least and greatest values. */
function suffixIn(column: Field, group: RowGroup): string | undefined {
  const media = mediaOf(column);
  const leaf = media === undefined
    ? column.leaf
    : column.parts[media.path]!.leaf;
  const statistics = group.columns[leaf]?.meta_data?.statistics;
  const { min_value: least, max_value: most } = statistics ?? {};
  if (!(least instanceof Uint8Array) || !(most instanceof Uint8Array)) {
    return undefined;
  }
  if (media === undefined) return sniffedSuffix(least);
  if (statistics!.is_min_value_exact === false) return undefined;
  const suffix = suffixOfPath(least);
  return suffix !== "" && suffix === suffixOfPath(most) ? suffix : undefined;
}

/** A number of a footer, which has to be whole and exact. */
function whole(source: ByteSource, value: unknown, what: string): number {
  const number = Number(value as bigint);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw fault(
    source,
    `its footer says that the ${what} is ${value}`,
    "absurd-count",
  );
}

function encrypted(source: ByteSource, what: string): FormatError {
  return fault(
    source,
    `${what} encrypted, which is not read: decrypt it with what wrote it, as pyarrow with its keys`,
    "unsupported",
  );
}

function fault(
  { name: path }: ByteSource,
  why: string,
  code: FormatErrorCode = "bad-structure",
  cause?: unknown,
): FormatError {
  const way = code === "bad-structure" || code === "out-of-bounds"
    ? "; fetch or write the file again"
    : "";
  return new FormatError(code, `${path} can't be read: ${why}${way}`, {
    path,
    cause,
  });
}
