import { FormatError } from "../../../errors.ts";
import type { FileSource } from "../../../io/storage/file_source.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import { encodeName } from "../../../names.ts";
import type { NameTable } from "../../../tree/name_table.ts";
import { NameTableBuilder } from "../../../tree/name_table_builder.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/numbered_names.ts";
import { type Extent, newExtent } from "../../../tree/tree.ts";
import { type BagFile, closeBag } from "../bag/bag_file.ts";
import type { Generation } from "../dataset/generation.ts";
import { IndexedBag } from "../bag/indexed_bag.ts";
import {
  closeHead,
  type DatasetHead,
  openBagOf,
} from "../dataset/open_dataset.ts";
import { PagedFile } from "../bag/paged_file.ts";
import { longestReferences, References } from "../dataset/references.ts";
import type { SpecKey } from "../dataset/spec.ts";
import type { TreeViews, ViewedDataset, ViewSuffix } from "./tree_views.ts";

/** Longest name that a file may have for most programs: `NAME_MAX`. */
const LONGEST_NAME = 255;

/** How a shard is shown. */
export interface TreeShardOptions {
  /** How many datapoints to show, no more than there are. */
  readonly length: number;
  /** When its newest file was modified, in milliseconds since 1970. */
  readonly mtime: number;
  /** The bags of its keys, where they have been opened. */
  readonly bags: readonly BagFile[];
  /** The inode of each bag when the shard was opened. */
  readonly inodes: readonly number[];
  /** Readable views to show as well. */
  readonly views: TreeViews | undefined;
}

/**
 * A dataset, or shard of one, as a tree shows it. The bag of a key is opened when something of it is
 * first asked for.
 */
export class TreeShard implements ViewedDataset {
  readonly generation: Generation;
  /** How many datapoints are shown. */
  readonly length: number;
  /** When its newest file was modified, in milliseconds since 1970. */
  readonly mtime: number;
  readonly keys: readonly SpecKey[];
  /** Names in a datapoint's directory; record k is key k, and what follows are the keys' views. */
  readonly names: NameTable;
  /** Names of datapoints. */
  readonly rowNames: NumberedNames;
  /** What the name of each key's readable view ends in, where it has one. */
  readonly suffixes: readonly (ViewSuffix | undefined)[];
  readonly #head: DatasetHead;
  readonly #bags: (IndexedBag | undefined)[];
  readonly #inodes: readonly number[];
  readonly #refs: IndexedBag | undefined;
  readonly #refsData: PagedFile | undefined;
  readonly #references: References;
  readonly #record: Uint8Array<ArrayBuffer>;
  readonly #place = newExtent();
  /** The datapoint whose references were read last. */
  #referred = -1;

  constructor(head: DatasetHead, options: TreeShardOptions) {
    const { length, mtime, bags, inodes, views } = options;
    const { keys, refs } = head;
    this.generation = head.generation;
    this.length = length;
    this.keys = keys;
    this.suffixes = keys.map(({ type }) =>
      views?.suffixOf(type, head.generation)
    );
    this.names = nameKeys(keys, this.suffixes);
    this.rowNames = numberedNames(length, "");
    this.#head = head;
    this.mtime = mtime;
    this.#bags = keys.map((_, k) => bags[k] && new IndexedBag(bags[k]));
    this.#inodes = inodes;
    this.#refs = refs && new IndexedBag(refs);
    this.#refsData = refs && new PagedFile(refs.source, 0);
    this.#references = new References({ path: refs?.path ?? "", keys });
    this.#record = new Uint8Array(
      refs ? longestReferences(keys.length) + 1 : 0,
    );
  }

  /** Bytes of the specification. */
  get specSize(): number {
    return this.#head.spec.size;
  }

  /** How many records a key has, of which nodes are made. */
  records(key: number): number {
    return this.bag(key).length;
  }

  /** Whether the key's value in a datapoint is a list. */
  isList(key: number): boolean {
    return this.keys[key]!.type.isList;
  }

  /** How many elements the list of a key has. */
  count(key: number, datapoint: number): number {
    this.#refer(datapoint, key);
    return this.#references.count[key]!;
  }

  /** The record that is a key's value, or the first one of its list. */
  first(key: number, datapoint: number): number {
    if (this.#refs === undefined) return datapoint;
    this.#refer(datapoint, key);
    return this.#references.first[key]!;
  }

  /** Says where a record of a key is, but for the extent's source. */
  locate(key: number, record: number, into: Extent): void {
    this.#bag(key).locate(record, into);
  }

  bag(key: number): BagFile {
    return this.#bag(key).file;
  }

  /** File 0 is the specification, file k + 1 the bag of key k. */
  file(number: number): FileSource | undefined {
    if (number === 0) return this.#head.spec;
    return number <= this.keys.length ? this.bag(number - 1).source : undefined;
  }

  /** Closes the descriptors of all files until they are needed again. */
  rest(): void {
    const { spec, refs } = this.#head;
    spec.rest();
    for (const bag of [refs, ...this.#bags.map((bag) => bag?.file)]) {
      bag?.source.rest();
      bag?.index.rest();
    }
  }

  close(): void {
    closeHead(this.#head);
    for (const bag of this.#bags) if (bag !== undefined) closeBag(bag.file);
  }

  #bag(key: number): IndexedBag {
    return this.#bags[key] ??= this.#openBag(key);
  }

  #openBag(key: number): IndexedBag {
    const bag = runSync(openBagOf(this.#head, this.keys[key]!.key));
    const { ino } = bag.source.identity;
    const isSame = (ino === this.#inodes[key] || this.length === 0) &&
      (this.#refs === undefined
        ? bag.length >= this.length
        : bag.source.mtime <= this.mtime);
    if (!isSame) {
      closeBag(bag);
      throw changed(bag.path);
    }
    return new IndexedBag(bag);
  }

  /** Reads the references of a datapoint, unless they are those that were read last. */
  #refer(datapoint: number, key: number): void {
    if (this.#referred !== datapoint) this.#readReferences(datapoint);
    this.#references.checkRange(key, this.records(key));
  }

  #readReferences(datapoint: number): void {
    this.#referred = -1;
    this.#refs!.locate(datapoint, this.#place);
    const { offset } = this.#place;
    // A record that is longer than references can be is found wrong by its first bytes.
    const length = Math.min(this.#place.length, this.#record.length);
    this.#refsData!.copy(this.#record, offset, length);
    this.#references.parse(datapoint, this.#record, length);
    this.#referred = datapoint;
  }
}

/** Says that what is there now is not what was opened. */
export function changed(path: string): FormatError {
  return new FormatError(
    "changed",
    `${path} was replaced or changed after it was opened; open it again`,
    { path },
  );
}

/** A key keeps its name where a view would have the same: the view is left out. */
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
  let start = 0;
  for (const { bytes } of names) {
    joined.set(bytes, start);
    start += bytes.length;
  }
  builder.nextDirectory();
  start = 0;
  for (const { bytes, record } of names) {
    builder.addFile(start, start + bytes.length, record);
    start += bytes.length;
  }
  return builder.finish();
}
