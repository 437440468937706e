import { messageOf } from "../../../base/message_text.ts";
import { FormatError } from "../../../base/errors.ts";
import {
  type Encoding,
  ENCODING_NAMES,
  encodingOf,
} from "../encodings/encoding.ts";
import type { Field } from "../../../tree/samples/samples.ts";
import { FORMAT, LARGEST_SHARD, tableSize, VERSION } from "../layout.ts";
import { strictUtf8Text, withoutByteOrderMark } from "../../../base/utf8.ts";

/** A field, and the encoding of its values. */
export interface Column extends Field {
  readonly encoding: Encoding;
}

export function columnOf(name: string, encoding: Encoding): Column {
  const { type, list } = encoding;
  return { name, type, isList: list !== undefined, encoding };
}

export interface FileFacts {
  /** Path relative to the index. */
  readonly basename: string;
  readonly bytes: number;
  /** By algorithm, in hex. */
  readonly hashes: Readonly<Record<string, string>>;
}

export interface ShardFacts {
  readonly raw: FileFacts;
  /** Compressed file, and its compression. */
  readonly zip: FileFacts | undefined;
  readonly compression: string | undefined;
  readonly samples: number;
  /** Index of its columns in {@linkcode MdsIndex.sets}. */
  readonly set: number;
}

/** Content of an index; plain data. */
export interface MdsIndex {
  /** Distinct sets of columns. Shards of one dataset usually have the same. */
  readonly sets: readonly (readonly Column[])[];
  readonly shards: readonly ShardFacts[];
}

const MOST_COLUMNS = 1 << 16;

/**
 * Parses an index as untrusted input: names must not leave the directory, and counts must fit the sizes.
 *
 * @throws {FormatError} If it is damaged, hostile, or of another version or format.
 */
export function parseIndex(bytes: Uint8Array, path: string): MdsIndex {
  return new IndexParser(path).index(bytes);
}

/** Parses the columns of a shard's own configuration; throws like {@linkcode parseIndex}. */
export function parseConfig(
  bytes: Uint8Array,
  path: string,
): readonly Column[] {
  return new IndexParser(path).config(bytes);
}

type Facts = Readonly<Record<string, unknown>>;

class IndexParser {
  readonly #path: string;
  /** Distinct sets of columns, and their indices by key. */
  readonly #sets: (readonly Column[])[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(path: string) {
    this.#path = path;
  }

  index(bytes: Uint8Array): MdsIndex {
    const { version, shards } = this.#object(this.#json(bytes), "it");
    this.#requireVersion(version);
    if (!Array.isArray(shards)) throw this.#bad("it has no list of shards");
    const parsed = shards.map((shard, i) => {
      const where = `shard ${i}`;
      return this.#shard(this.#object(shard, where), where);
    });
    return { sets: this.#sets, shards: parsed };
  }

  config(bytes: Uint8Array): readonly Column[] {
    const where = "its configuration";
    const facts = this.#object(this.#json(bytes), where);
    this.#requireFormat(facts, where);
    return this.#columns(facts, where);
  }

  #json(bytes: Uint8Array): unknown {
    try {
      return JSON.parse(withoutByteOrderMark(strictUtf8Text(bytes)));
    } catch (cause) {
      const why = messageOf(cause);
      throw this.#bad(`it is not JSON (${why})`, cause);
    }
  }

  #shard(facts: Facts, where: string): ShardFacts {
    this.#requireFormat(facts, where);
    const { samples, compression, raw_data, zip_data = null } = facts;
    const raw = this.#file(raw_data, `raw_data of ${where}`);
    const zip = zip_data === null
      ? undefined
      : this.#file(zip_data, `zip_data of ${where}`);
    if (!isCount(samples)) {
      throw this.#bad(`the number of samples of ${where} is invalid`);
    }
    if (raw.bytes > LARGEST_SHARD) {
      throw this.#bad(
        `${where} has ${raw.bytes} bytes, more than offsets of 32 bits ` +
          `reach (${LARGEST_SHARD})`,
      );
    }
    const path = this.#path;
    if (tableSize(samples) > raw.bytes) {
      throw new FormatError(
        "absurd-count",
        `Cannot read ${path}: ${where} has ${samples} samples in ` +
          `${raw.bytes} bytes, too few even for their offsets: the index is ` +
          "damaged. Download it again",
        { path, expected: tableSize(samples), actual: raw.bytes },
      );
    }
    if (zip !== undefined && typeof compression !== "string") {
      throw this.#bad(`${where} has zip_data and no compression`);
    }
    return {
      raw,
      zip,
      compression: zip === undefined
        ? undefined
        : (compression as string).replace(/:.*$/s, ""),
      samples,
      set: this.#set(facts, where),
    };
  }

  #set(facts: Facts, where: string): number {
    const { column_names, column_encodings, column_sizes } = facts;
    const key = JSON.stringify(
      [column_names, column_encodings, column_sizes].map(flat),
    );
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#sets.push(this.#columns(facts, where)) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  #columns(facts: Facts, where: string): Column[] {
    const { column_names: names, column_encodings: encodings } = facts;
    const { column_sizes: sizes } = facts;
    const areLists = Array.isArray(names) && Array.isArray(encodings) &&
      Array.isArray(sizes) && names.length === encodings.length &&
      names.length === sizes.length;
    if (!areLists) {
      throw this.#bad(
        `${where} has no lists of the names, encodings and sizes of its columns, one as long as the other`,
      );
    }
    if (names.length > MOST_COLUMNS) {
      throw this.#bad(`${where} has ${names.length} columns`);
    }
    if (new Set(names).size !== names.length) {
      throw this.#bad(`${where} has two columns of the same name`);
    }
    return names.map((name: unknown, i) => {
      if (typeof name !== "string") {
        throw this.#bad(`${where} has a column whose name is not a text`);
      }
      return this.#column(name, encodings[i], sizes[i]);
    });
  }

  #column(name: string, word: unknown, declared: unknown): Column {
    const encoding = typeof word === "string" ? encodingOf(word) : undefined;
    if (encoding === undefined) {
      throw new FormatError(
        "unsupported",
        `Cannot read ${this.#path}: the column '${name}' has the ` +
          `unsupported encoding ${shown(word)}: known encodings are ` +
          `${ENCODING_NAMES.join(", ")}`,
        { path: this.#path, actual: word },
      );
    }
    const size = declared || undefined; // as in the original, 0 means no size
    if (size === encoding.size) return columnOf(name, encoding);
    const said = size === undefined
      ? "values of any size"
      : `${shown(size)} bytes`;
    throw this.#bad(
      `the column '${name}' has ${said} in the index, but as ${encoding.word} it has ${
        encoding.size ?? "any number of"
      }`,
    );
  }

  #file(value: unknown, where: string): FileFacts {
    const { basename, bytes, hashes } = this.#object(value, where, "missing");
    if (typeof basename !== "string") {
      throw this.#bad(`${where} has no basename`);
    }
    if (!isSafe(basename)) {
      throw new FormatError(
        "unsafe-name",
        `Cannot read ${this.#path}: ${where} is called ${shown(basename)}, ` +
          "which leads out of the dataset's directory: the index is damaged or hostile",
        { path: this.#path, actual: basename },
      );
    }
    if (!isCount(bytes)) throw this.#bad(`${where} has no number of bytes`);
    const known = Object.entries(
      this.#object(hashes ?? {}, `'hashes' of ${where}`),
    );
    if (known.some(([, hash]) => typeof hash !== "string")) {
      throw this.#bad(`a hash of ${where} is not a text`);
    }
    const all = Object.fromEntries(known) as Record<string, string>;
    return { basename, bytes, hashes: all };
  }

  #requireFormat({ version, format }: Facts, where: string): void {
    this.#requireVersion(version);
    if (format === FORMAT) return;
    throw new FormatError(
      "unsupported",
      `Cannot read ${this.#path}: ${where} has the unsupported format ` +
        `${shown(format)}: only shards of "${FORMAT}" are read. Write the ` +
        "dataset again as such",
      { path: this.#path, expected: FORMAT, actual: format },
    );
  }

  #requireVersion(version: unknown): void {
    if (version === VERSION) return;
    throw new FormatError(
      "unsupported",
      `Cannot read ${this.#path}: its version ${shown(version)} is ` +
        `unsupported: only ${VERSION} is known. Update recordfs, or write ` +
        "the dataset again",
      { path: this.#path, expected: VERSION, actual: version },
    );
  }

  #object(value: unknown, where: string, otherwise = "not an object"): Facts {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Facts;
    }
    throw this.#bad(`${where} is ${otherwise}`);
  }

  #bad(why: string, cause?: unknown): FormatError {
    const path = this.#path;
    const message =
      `Cannot read ${path}: ${why}: it is damaged. Download it again`;
    return new FormatError("bad-index", message, { path, cause });
  }
}

/** Whether a relative path stays below its directory. */
function isSafe(basename: string): boolean {
  return !/[\0\\]/.test(basename) &&
    basename.split("/").every((part) => !["", ".", ".."].includes(part));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number >= 0;
}

/** Replaces nested values of a list, which may be of any depth, by null. */
function flat(list: unknown): unknown {
  return Array.isArray(list)
    ? list.map((item) => typeof item === "object" ? null : item)
    : null;
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "a list" : "an object";
  }
  return (JSON.stringify(value) ?? "missing").slice(0, 80);
}
