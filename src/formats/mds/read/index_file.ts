import { ENCODING_NAMES, encodingOf } from "../encodings/encoding.ts";
import {
  type Column,
  columnOf,
  type IndexFacts,
  IndexParts,
  isCount,
  type ShardFacts,
  type ShardIndex,
  shown,
} from "../../../tree/field_shards/shard_index.ts";
import { FORMAT, VERSION } from "../layout.ts";

const MOST_COLUMNS = 1 << 16;

/**
 * Parses an index as untrusted input: names must not leave the directory, and counts must fit the sizes.
 *
 * @throws {FormatError} If it is damaged, hostile, or of another version or format.
 */
export function parseIndex(bytes: Uint8Array, path: string): ShardIndex {
  return new IndexParser(path).index(bytes);
}

/** Parses the columns of a shard's own configuration; throws like {@linkcode parseIndex}. */
export function parseConfig(
  bytes: Uint8Array,
  path: string,
): readonly Column[] {
  return new IndexParser(path).config(bytes);
}

class IndexParser extends IndexParts {
  /** Distinct sets of columns, and their indices by key. */
  readonly #sets: (readonly Column[])[] = [];
  readonly #numbers = new Map<string, number>();

  index(bytes: Uint8Array): ShardIndex {
    const { version, shards } = this.object(this.json(bytes), "it");
    this.#requireVersion(version);
    if (!Array.isArray(shards)) throw this.bad("it has no list of shards");
    const parsed = shards.map((shard, i) => {
      const where = `shard ${i}`;
      return this.#shard(this.object(shard, where), where);
    });
    return { sets: this.#sets, shards: parsed };
  }

  config(bytes: Uint8Array): readonly Column[] {
    const where = "its configuration";
    const facts = this.object(this.json(bytes), where);
    this.#requireFormat(facts, where);
    return this.#columns(facts, where);
  }

  #shard(facts: IndexFacts, where: string): ShardFacts {
    this.#requireFormat(facts, where);
    const { samples, compression, raw_data, zip_data = null } = facts;
    const raw = this.#file(raw_data, `raw_data of ${where}`);
    const packed = zip_data === null
      ? undefined
      : this.#file(zip_data, `zip_data of ${where}`);
    if (packed !== undefined && typeof compression !== "string") {
      throw this.bad(`${where} has zip_data and no compression`);
    }
    return {
      raw,
      packed,
      compression: packed === undefined
        ? undefined
        : (compression as string).replace(/:.*$/s, ""),
      samples: this.samples(samples, raw.bytes, where),
      set: this.#set(facts, where),
    };
  }

  #set(facts: IndexFacts, where: string): number {
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

  #columns(facts: IndexFacts, where: string): Column[] {
    const { column_names: names, column_encodings: encodings } = facts;
    const { column_sizes: sizes } = facts;
    const areLists = Array.isArray(names) && Array.isArray(encodings) &&
      Array.isArray(sizes) && names.length === encodings.length &&
      names.length === sizes.length;
    if (!areLists) {
      throw this.bad(
        `${where} has no lists of the names, encodings and sizes of its columns, one as long as the other`,
      );
    }
    if (names.length > MOST_COLUMNS) {
      throw this.bad(`${where} has ${names.length} columns`);
    }
    if (new Set(names).size !== names.length) {
      throw this.bad(`${where} has two columns of the same name`);
    }
    return names.map((name: unknown, i) => {
      if (typeof name !== "string") {
        throw this.bad(`${where} has a column whose name is not a text`);
      }
      return this.#column(name, encodings[i], sizes[i]);
    });
  }

  #column(name: string, word: unknown, declared: unknown): Column {
    const encoding = typeof word === "string" ? encodingOf(word) : undefined;
    if (encoding === undefined) {
      throw this.unsupported(
        `the column '${name}' has the ` +
          `unsupported encoding ${shown(word)}: known encodings are ` +
          `${ENCODING_NAMES.join(", ")}`,
        { actual: word },
      );
    }
    const size = declared || undefined; // as in the original, 0 means no size
    if (size === encoding.size) return columnOf(name, encoding);
    const said = size === undefined
      ? "values of any size"
      : `${shown(size)} bytes`;
    throw this.bad(
      `the column '${name}' has ${said} in the index, but as ${encoding.word} it has ${
        encoding.size ?? "any number of"
      }`,
    );
  }

  #file(value: unknown, where: string): ShardFacts["raw"] {
    const facts = this.object(value, where, "missing");
    const basename = this.basename(facts["basename"], where);
    const { bytes, hashes } = facts;
    if (!isCount(bytes)) throw this.bad(`${where} has no number of bytes`);
    const known = Object.entries(
      this.object(hashes ?? {}, `'hashes' of ${where}`),
    );
    if (known.some(([, hash]) => typeof hash !== "string")) {
      throw this.bad(`a hash of ${where} is not a text`);
    }
    const all = Object.fromEntries(known) as Record<string, string>;
    return { basename, bytes, hashes: all };
  }

  #requireFormat({ version, format }: IndexFacts, where: string): void {
    this.#requireVersion(version);
    if (format === FORMAT) return;
    throw this.unsupported(
      `${where} has the unsupported format ` +
        `${shown(format)}: only shards of "${FORMAT}" are read. Write the ` +
        "dataset again as such",
      { expected: FORMAT, actual: format },
    );
  }

  #requireVersion(version: unknown): void {
    if (version === VERSION) return;
    throw this.unsupported(
      `its version ${shown(version)} is ` +
        `unsupported: only ${VERSION} is known. Update recordfs, or write ` +
        "the dataset again",
      { expected: VERSION, actual: version },
    );
  }
}

/** Replaces nested values of a list, which may be of any depth, by null. */
function flat(list: unknown): unknown {
  return Array.isArray(list)
    ? list.map((item) => typeof item === "object" ? null : item)
    : null;
}
