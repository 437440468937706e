import { changedFile } from "../../../io/storage/changed_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { FileSource } from "../../../io/storage/file_source.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { encodeName } from "../../../base/names.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";
import { NameTableBuilder } from "../../../tree/names/name_table_builder.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import type { Bag } from "../bag/bag.ts";
import { DamagedBag } from "../bag/damaged_bag.ts";
import type { Shard } from "../dataset/open_shard.ts";
import { References } from "../dataset/references.ts";
import type { SpecKey } from "../dataset/spec.ts";
import { idOf } from "./tree_storage.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import { atOnce } from "../../../tree/not_loaded.ts";
import type { DecodedViews, ViewSuffix } from "./decoded_views.ts";

/** Longest file name in bytes: Linux's `NAME_MAX`. */
const LONGEST_NAME = 255;

/** A dataset, or one shard, as a tree shows it. The bag of a key is opened on first access. */
export class TreeShard {
  readonly length: number;
  /** Modification time of its newest file, in milliseconds since 1970. */
  readonly mtime: number;
  readonly keys: readonly SpecKey[];
  /** Names in a datapoint's directory. Record k is key k; the keys' views follow. */
  readonly names: NameTable;
  readonly rowNames: NumberedNames;
  /** Suffix of each key's readable view, if it has one. */
  readonly suffixes: readonly (ViewSuffix | undefined)[];
  readonly shard: Shard;
  readonly #ids: readonly number[];
  readonly #references: References;
  /** Datapoint whose references were read last. */
  #referred = -1;
  #isClosed = false;

  /**
   * @param ids File id of each key's bag when the shard was opened.
   * @param length Number of datapoints to show, at most those that exist.
   */
  constructor(
    shard: Shard,
    ids: readonly number[],
    length: number,
    mtime: number,
    views: DecodedViews | undefined,
  ) {
    const { keys, refs, generation } = shard;
    this.shard = shard;
    this.length = length;
    this.keys = keys;
    this.suffixes = keys.map(({ type }, key) =>
      this.damaged(key) ? undefined : views?.suffixOf(type, generation)
    );
    this.names = nameKeys(keys, this.suffixes);
    this.rowNames = numberedNames(length, "");
    this.mtime = mtime;
    this.#ids = ids;
    this.#references = new References({ path: refs?.path ?? "", keys });
  }

  /** Whether the values of a key are lists. A damaged one is shown as a file. */
  isList(key: number): boolean {
    return this.shard.isList(key);
  }

  damaged(key: number): DamagedBag | undefined {
    const bag = this.shard.bags[key];
    return bag instanceof DamagedBag ? bag : undefined;
  }

  count(key: number, datapoint: number): number {
    this.#refer(datapoint, key);
    return this.#references.count[key]!;
  }

  /** Returns the record of a key's value, or the first record of its list. */
  first(key: number, datapoint: number): number {
    if (this.shard.refs === undefined) return datapoint;
    this.#refer(datapoint, key);
    return this.#references.first[key]!;
  }

  bag(key: number): Bag {
    return this.shard.bags[key] ??
      atOnce(this.shard.path, () => this.#openBag(key));
  }

  /** Returns a file by number: 0 is the spec, k + 1 the bag of key k. */
  file(number: number): ByteSource | undefined {
    if (number === 0) return this.shard.spec;
    return number <= this.keys.length ? this.bag(number - 1).source : undefined;
  }

  /** Closes the descriptors of all files until they are next used. */
  rest(): void {
    for (const file of this.shard.files) {
      if (file instanceof FileSource) file.rest();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.shard.close();
  }

  *#openBag(key: number): Steps<Bag> {
    const shard = this.shard;
    const bag = yield* shard.openBag(key);
    try {
      const id = yield* idOf(shard.storage, bag.source);
      const isSame = (id === this.#ids[key] || this.length === 0) &&
        (shard.refs === undefined
          ? bag.length >= this.length
          : bag.source.mtime <= this.mtime);
      if (!isSame) throw changedFile(bag.path);
      requireOpen(shard.path, this.#isClosed); // may have been closed while the bag was opened
      if (shard.bags[key] !== undefined) bag.close(); // opened meanwhile by another caller
      return shard.bags[key] ??= bag;
    } catch (error) {
      bag.close();
      throw error;
    }
  }

  /** Reads the references of a datapoint, unless they were read last. */
  #refer(datapoint: number, key: number): void {
    if (this.#referred !== datapoint) {
      this.#referred = -1;
      this.#references.read(datapoint, this.shard.refs!);
      this.#referred = datapoint;
    }
    this.#references.checkRange(key, this.bag(key).length);
  }
}

/** Builds the names in a datapoint's directory. A view whose name is also a key is skipped. */
function nameKeys(
  keys: readonly SpecKey[],
  suffixes: readonly (ViewSuffix | undefined)[],
): NameTable {
  const taken = new Set(keys.map(({ key }) => key));
  const names: { bytes: Uint8Array; record: number }[] = [];
  for (const [k, { key, type }] of keys.entries()) {
    names.push({ bytes: encodeName(key), record: k });
    const suffix = suffixes[k];
    if (suffix === undefined || type.isList || taken.has(key + suffix)) {
      continue;
    }
    const bytes = encodeName(key + suffix);
    if (bytes.length > LONGEST_NAME) continue;
    names.push({ bytes, record: keys.length + k });
  }
  const length = names.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const joined = new Uint8Array(new SharedArrayBuffer(length));
  const builder = new NameTableBuilder(names.length, joined);
  builder.nextDirectory();
  let start = 0;
  for (const { bytes, record } of names) {
    joined.set(bytes, start);
    builder.addFile(start, start + bytes.length, record);
    start += bytes.length;
  }
  return builder.finish();
}
