import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { sharedFloat64 } from "../../../tree/shared_numbers.ts";
import { CODECS, MAGIC_SIZE, TAIL_SIZE } from "../layout.ts";
import { mediaOf } from "../../../codecs/cells/cell_field.ts";
import { suffixOfPath } from "../../../codecs/cells/path_suffix.ts";
import { fieldsOf, type SchemaField } from "../values/schema.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import { encryptedFault, FooterFault, wholeNumber } from "./footer_fault.ts";
import type { ChunkMessage, FooterMessage } from "./footer_message.ts";

/** Bytes of a minimum or maximum value that are examined for its file type. */
const HINT = 300;

/** Fields of a column chunk in {@linkcode ParquetIndex.chunks}. */
export const Chunk = {
  START: 0,
  LENGTH: 1,
  VALUES: 2,
  CODEC: 3,
  /** Offset of the data pages: after the dictionary, if its offset is given. */
  DATA: 4,
  /** Offset of the offset index, or 0, and its length. */
  INDEX: 5,
  INDEX_LENGTH: 6,
  FIELDS: 7,
} as const;

/** Tables from a file's footer: plain data, in memory that threads share. */
export interface ParquetIndex {
  readonly columns: readonly SchemaField[];
  /** Number of leaves of all columns. */
  readonly leaves: number;
  /** Per row group, plus one for all: index of its first row. */
  readonly firsts: Float64Array;
  /** Per row group and leaf: fields of {@linkcode Chunk}. */
  readonly chunks: Float64Array;
  /** Per column: suffix of its cells' filenames, if the footer tells it. */
  readonly suffixes: readonly (string | undefined)[];
}

/** Data with which another thread reopens a file. */
export interface ParquetFile extends ParquetIndex, KnownFile {}

/**
 * Builds the tables of a footer.
 *
 * @param size Size of the file in bytes.
 * @param warn Called for irregularities that do not prevent reading.
 * @throws {FooterFault} If it is inconsistent.
 */
export function indexOf(
  size: number,
  message: FooterMessage,
  warn: (what: string) => void,
): ParquetIndex {
  const columns = fieldsOf(message.elements);
  warnOfRepetition(message, warn);
  const flat = columns.flatMap(leavesOf);
  const leaves = flat.length;
  const firsts = sharedFloat64(message.groups.length + 1);
  const chunks = sharedFloat64(message.groups.length * leaves * Chunk.FIELDS);
  let first: readonly ChunkMessage[] | undefined;
  for (const [g, group] of message.groups.entries()) {
    const rows = wholeNumber(group.rows, "rows of a row group");
    firsts[g + 1] = firsts[g]! + rows;
    if (group.chunks.length !== leaves) {
      throw new FooterFault(
        `row group ${g} has ${group.chunks.length} columns, and the footer ${leaves}`,
      );
    }
    const ordered = inOrder(group.chunks, flat, g, warn);
    first ??= ordered;
    for (const [leaf, chunk] of ordered.entries()) {
      const { name, isOnce } = flat[leaf]!;
      const numbers = numbersOf(size, chunk, flat[leaf]!, g);
      chunks.set(numbers, (g * leaves + leaf) * Chunk.FIELDS);
      // A row has at least one entry in each leaf, even for an empty list.
      const values = numbers[Chunk.VALUES]!;
      if (isOnce ? values !== rows : values < rows) {
        throw new FooterFault(
          `row group ${g} has ${rows} rows, and ${values} values in its column '${name}'`,
        );
      }
    }
  }
  const rows = wholeNumber(message.rows, "number of rows");
  const counted = firsts.at(-1)!;
  if (!Number.isSafeInteger(counted * (columns.length + 1))) {
    throw new FooterFault(
      `its row groups count ${counted} rows`,
      "absurd-count",
    );
  }
  if (rows !== counted) {
    if (leaves === 0) {
      throw new FooterFault(
        `its footer counts ${rows} rows, its row groups ${counted}, and no column can decide`,
        "absurd-count",
      );
    }
    warn(
      `its footer counts ${rows} rows, and ${counted} in its row groups: those are read`,
    );
  }
  const suffixes = columns.map((column) => first && suffixIn(column, first));
  return { columns, leaves, firsts, chunks, suffixes };
}

function warnOfRepetition(
  { elements }: FooterMessage,
  warn: (what: string) => void,
): void {
  const silent = elements.slice(1) // the root occurs once
    .filter(({ repetition }) => repetition === undefined)
    .map(({ name }) => `'${name}'`);
  if (silent.length === 0) return;
  const [which, others] = [silent.slice(0, 10), silent.length - 10];
  const more = others > 0 ? ` and ${others} more` : "";
  warn(
    `its footer lacks the repetition of ${
      which.join(", ")
    }${more}: they are read as required`,
  );
}

interface FlatLeaf {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: string;
  readonly isOnce: boolean;
}

function leavesOf(column: SchemaField): FlatLeaf[] {
  const leaves: FlatLeaf[] = [];
  const walk = (
    field: SchemaField,
    above: readonly string[],
    once: boolean,
  ) => {
    const isOnce = once && field.repetition !== "REPEATED";
    const path = [...above, field.name];
    if (field.type !== undefined) {
      leaves.push({ name: column.name, path, type: field.type, isOnce });
    }
    for (const part of field.parts) walk(part, path, isOnce);
  };
  walk(column, [], true);
  return leaves;
}

/**
 * Returns column chunks in the order of the leaves. If they are in another order, matches them by their paths, provided
 * that each leaf has one; otherwise their order counts.
 */
function inOrder(
  chunks: readonly ChunkMessage[],
  leaves: readonly FlatLeaf[],
  group: number,
  warn: (what: string) => void,
): readonly ChunkMessage[] {
  const isHere = (leaf: FlatLeaf, i: number) => {
    const { path, hasMeta } = chunks[i]!;
    if (path === undefined && hasMeta) {
      throw new FooterFault(
        `column chunk ${i} of row group ${group} does not name its column`,
      );
    }
    return path === undefined || path.length === leaf.path.length &&
        path.every((name, k) => name === leaf.path[k]);
  };
  if (leaves.every(isHere)) return chunks;
  const byPath = new Map(
    chunks.map((chunk) => [JSON.stringify(chunk.path), chunk]),
  );
  const found = leaves.map(({ path }) => byPath.get(JSON.stringify(path)));
  if (found.includes(undefined) || new Set(found).size < leaves.length) {
    return chunks;
  }
  warn(
    `the column chunks of row group ${group} are not in the order of the columns: they are found by their paths`,
  );
  return found as ChunkMessage[];
}

function numbersOf(
  size: number,
  chunk: ChunkMessage,
  { name, type }: FlatLeaf,
  group: number,
): number[] {
  const where = `column '${name}' of row group ${group}`;
  if (chunk.isEncrypted) throw encryptedFault(`${where} is`);
  if (chunk.filePath !== undefined) {
    throw new FooterFault(
      `${where} lies in another file (${chunk.filePath}), which is not ` +
        "followed. Open the files that have the data",
      "unsupported",
    );
  }
  if (!chunk.hasMeta) throw new FooterFault(`${where} has no metadata`);
  if (chunk.type !== type) {
    throw new FooterFault(
      `${where} is stored as ${chunk.type}, and declared as ${type}`,
    );
  }
  const number = (value: unknown, what: string) =>
    wholeNumber(value, `${what} of ${where}`);
  const data = number(chunk.data, "place");
  const dictionary = number(chunk.dictionary ?? 0, "dictionary");
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const length = number(chunk.size, "size");
  const values = number(chunk.values, "number of values");
  const isEmpty = length === 0 || values === 0; // some writers omit the offset then
  if (
    !isEmpty && (start < MAGIC_SIZE || start + length > size - TAIL_SIZE)
  ) {
    throw new FooterFault(
      `${where} is out of bounds: it would be at bytes ${start} to ` +
        `${start + length}, and the file has ${size}`,
      "out-of-bounds",
    );
  }
  const { codec } = chunk;
  if (typeof codec !== "number" || CODECS[codec] === undefined) {
    throw new FooterFault(
      `${where} is compressed by an unknown codec`,
      "unsupported",
    );
  }
  const index = number(chunk.index ?? 0, "index");
  const indexLength = number(chunk.indexLength ?? 0, "length of the index");
  const hasIndex = index > 0 && indexLength > 0;
  if (hasIndex && index + indexLength > size - TAIL_SIZE) {
    throw new FooterFault(
      `the index of ${where} is out of bounds`,
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

/** Returns the suffix for a column's cells from its minimum and maximum values. */
function suffixIn(
  column: SchemaField,
  chunks: readonly ChunkMessage[],
): string | undefined {
  const media = mediaOf(column);
  const leaf = media === undefined
    ? column.leaf
    : column.parts[media.path]!.leaf;
  const { least, most, isLeastExact } = chunks[leaf] ?? {};
  if (least === undefined || most === undefined) return undefined;
  if (media === undefined) return sniffedSuffix(least.subarray(0, HINT));
  if (!isLeastExact) return undefined;
  const suffix = suffixOfPath(least.subarray(0, HINT));
  const isSame = suffix === suffixOfPath(most.subarray(0, HINT));
  return suffix !== "" && isSame ? suffix : undefined;
}
