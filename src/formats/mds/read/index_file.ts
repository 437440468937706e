import { FormatError } from "../../../base/errors.ts";
import {
  type Encoding,
  ENCODING_NAMES,
  encodingOf,
} from "../encodings/encoding.ts";
import { FORMAT, LARGEST_SHARD, tableSize, VERSION } from "../layout.ts";
import { strictUtf8Text, withoutByteOrderMark } from "../../../base/utf8.ts";

/** A column: its name, and how its values are written. */
export interface Column {
  readonly name: string;
  readonly encoding: Encoding;
}

/** A file, as the index describes it. */
export interface FileFacts {
  /** Its path from the index. */
  readonly basename: string;
  readonly bytes: number;
  /** By algorithm, in hex. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** A shard, as the index describes it. */
export interface ShardFacts {
  readonly raw: FileFacts;
  /** The file that it is compressed to, and how. */
  readonly zip: FileFacts | undefined;
  readonly compression: string | undefined;
  readonly samples: number;
  /** Which of the sets of columns its samples have. */
  readonly set: number;
}

/** What an index says; plain data. */
export interface MdsIndex {
  /** Shards of one dataset have the same columns as a rule, but need not. */
  readonly sets: readonly (readonly Column[])[];
  readonly shards: readonly ShardFacts[];
}

/** Most columns of a sample. */
const MOST_COLUMNS = 1 << 16;

/**
 * Reads an index, none of which is believed: names lead nowhere else, and counts fit the sizes that they come with.
 *
 * @param path The file, for messages.
 * @throws {FormatError} If it is damaged, hostile, or of another version or format.
 */
export function parseIndex(bytes: Uint8Array, path: string): MdsIndex {
  const root = objectOf(parse(bytes, path), path, "it is no object");
  const { version, shards } = root;
  if (version !== VERSION) throw otherVersion(path, version);
  if (!Array.isArray(shards)) throw bad(path, "it has no list of shards");
  const sets = new ColumnSets(path);
  const parsed = shards.map((shard, i) => {
    const where = `shard ${i}`;
    const facts = objectOf(shard, path, `${where} is no object`);
    return shardOf(facts, path, where, sets);
  });
  return { sets: sets.all, shards: parsed };
}

/**
 * Reads the columns of the configuration that a shard holds of its own.
 *
 * @param path The shard, for messages.
 * @throws {FormatError} As {@linkcode parseIndex} does.
 */
export function parseConfig(
  bytes: Uint8Array,
  path: string,
): readonly Column[] {
  const facts = objectOf(
    parse(bytes, path),
    path,
    "its configuration is no object",
  );
  requireFormat(facts, path, "its configuration");
  return columnsOf(facts, path, "its configuration");
}

type Facts = Readonly<Record<string, unknown>>;

function parse(bytes: Uint8Array, path: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(strictUtf8Text(bytes)));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw bad(path, `it is no JSON (${why})`, cause);
  }
}

/** The sets of columns that shards have, each once. */
class ColumnSets {
  readonly all: (readonly Column[])[] = [];
  readonly #path: string;
  readonly #known = new Map<string, number>();

  constructor(path: string) {
    this.#path = path;
  }

  numberOf(facts: Facts, where: string): number {
    const { column_names, column_encodings, column_sizes } = facts;
    const key = JSON.stringify(
      [column_names, column_encodings, column_sizes].map(flat),
    );
    let number = this.#known.get(key);
    if (number === undefined) {
      number = this.all.push(columnsOf(facts, this.#path, where)) - 1;
      this.#known.set(key, number);
    }
    return number;
  }
}

/** A list of words and numbers; what nests in it, as deep as it may, is none of them. */
function flat(list: unknown): unknown {
  return Array.isArray(list)
    ? list.map((item) => typeof item === "object" ? null : item)
    : null;
}

function shardOf(
  facts: Facts,
  path: string,
  where: string,
  sets: ColumnSets,
): ShardFacts {
  requireFormat(facts, path, where);
  const raw = fileOf(facts["raw_data"], path, `raw_data of ${where}`);
  const zipped = facts["zip_data"];
  const zip = zipped === null || zipped === undefined
    ? undefined
    : fileOf(zipped, path, `zip_data of ${where}`);
  const { samples, compression } = facts;
  if (!isCount(samples)) {
    throw bad(path, `the number of samples of ${where} is no count`);
  }
  if (raw.bytes > LARGEST_SHARD) {
    throw bad(
      path,
      `${where} has ${raw.bytes} bytes, and offsets of 32 bits reach ${LARGEST_SHARD}`,
    );
  }
  if (tableSize(samples) > raw.bytes) {
    throw new FormatError(
      "absurd-count",
      `${path}: ${where} has ${samples} samples in ${raw.bytes} bytes, which hold not even where each starts: the ` +
        "index is damaged; fetch it again",
      { path, expected: tableSize(samples), actual: raw.bytes },
    );
  }
  if (zip !== undefined && typeof compression !== "string") {
    throw bad(path, `${where} has zip_data and no compression`);
  }
  return {
    raw,
    zip,
    compression: zip === undefined
      ? undefined
      : (compression as string).replace(/:.*$/s, ""),
    samples,
    set: sets.numberOf(facts, where),
  };
}

function requireFormat(
  { version, format }: Facts,
  path: string,
  where: string,
): void {
  if (version !== VERSION) throw otherVersion(path, version);
  if (format === FORMAT) return;
  throw new FormatError(
    "unsupported",
    `${path}: ${where} is of the format ${
      shown(format)
    }, and only shards of "${FORMAT}" are read: write the ` +
      "dataset again as such",
    { path, expected: FORMAT, actual: format },
  );
}

function otherVersion(path: string, version: unknown): FormatError {
  return new FormatError(
    "unsupported",
    `${path}: its version is ${
      shown(version)
    }, and ${VERSION} is the only one that is known; update recordfs, or write the dataset again`,
    { path, expected: VERSION, actual: version },
  );
}

function columnsOf(facts: Facts, path: string, where: string): Column[] {
  const names = facts["column_names"];
  const encodings = facts["column_encodings"];
  const sizes = facts["column_sizes"];
  const areLists = Array.isArray(names) && Array.isArray(encodings) &&
    Array.isArray(sizes) && names.length === encodings.length &&
    names.length === sizes.length;
  if (!areLists) {
    throw bad(
      path,
      `${where} has no lists of the names, encodings and sizes of its columns, one as long as the other`,
    );
  }
  if (names.length > MOST_COLUMNS) {
    throw bad(path, `${where} has ${names.length} columns`);
  }
  if (new Set(names).size !== names.length) {
    throw bad(path, `${where} has two columns of one name`);
  }
  return names.map((name: unknown, i) => {
    if (typeof name !== "string") {
      throw bad(path, `${where} has a column whose name is no text`);
    }
    const word: unknown = encodings[i];
    const encoding = typeof word === "string" ? encodingOf(word) : undefined;
    if (encoding === undefined) {
      throw new FormatError(
        "unsupported",
        `${path}: the column '${name}' is written as ${
          shown(word)
        }, which is not read: known encodings are ${ENCODING_NAMES.join(", ")}`,
        { path, actual: word },
      );
    }
    // As the original has it, 0 is no size.
    const size: unknown = sizes[i] || undefined;
    if (size !== encoding.size) {
      throw bad(
        path,
        `the column '${name}' is said to have ${
          size === undefined ? "values of any size" : `${shown(size)} bytes`
        }, and as ${encoding.word} it has ${encoding.size ?? "any number of"}`,
      );
    }
    return { name, encoding };
  });
}

function fileOf(value: unknown, path: string, where: string): FileFacts {
  const { basename, bytes, hashes } = objectOf(
    value,
    path,
    `${where} is missing`,
  );
  if (typeof basename !== "string") {
    throw bad(path, `${where} has no basename`);
  }
  if (!isSafe(basename)) {
    throw new FormatError(
      "unsafe-name",
      `${path}: ${where} is called ${
        shown(basename)
      }, which leads out of the dataset's directory: the index is damaged or hostile`,
      { path, actual: basename },
    );
  }
  if (!isCount(bytes)) throw bad(path, `${where} has no number of bytes`);
  const known = Object.entries(
    hashes === null || hashes === undefined
      ? {}
      : objectOf(hashes, path, `the hashes of ${where} are no object`),
  );
  if (known.some(([, hash]) => typeof hash !== "string")) {
    throw bad(path, `a hash of ${where} is no text`);
  }
  const all = Object.fromEntries(known) as Record<string, string>;
  return { basename, bytes, hashes: all };
}

/** Whether a path leads down, and nowhere else. */
function isSafe(basename: string): boolean {
  return !/[\0\\]/.test(basename) &&
    basename.split("/").every((part) => !["", ".", ".."].includes(part));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number >= 0;
}

function objectOf(value: unknown, path: string, otherwise: string): Facts {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Facts;
  }
  throw bad(path, otherwise);
}

function bad(
  path: string,
  why: string,
  cause?: unknown,
): FormatError {
  return new FormatError(
    "bad-index",
    `${path}: ${why}; it is damaged: fetch it again`,
    { path, cause },
  );
}

/** A value of JSON in a message. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  return (JSON.stringify(value) ?? "missing").slice(0, 80);
}
