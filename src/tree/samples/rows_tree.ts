import { decodeName, encodeName } from "../../base/names.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import { type NumberedNames, numberedNames } from "../names/numbered_names.ts";
import type { NodeView } from "../node_view.ts";
import { isIndex } from "../sample_indices.ts";
import { lastUpTo } from "../shared_numbers.ts";
import {
  type EntryVisitor,
  type Extent,
  type NodeId,
  type NodeStat,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../tree.ts";
import type { ShardTable } from "./shard_table.ts";

/** The names of the files that a sample is shown as, one for each of its fields, and found by them. */
export interface FieldNames {
  readonly bytes: readonly Uint8Array[];
  readonly byName: ReadonlyMap<string, number>;
}

/**
 * Samples as directories, named by their numbers, whose files are their fields. Samples of several shards may be in a
 * directory of each, and are numbered in it.
 *
 * Node ids: the root, the shards' directories, all samples; then all fields, sample by sample.
 *
 * @typeParam S The shards of samples.
 */
export abstract class RowsTree<S extends KnownFile> implements Tree {
  abstract readonly sources: Tree["sources"];
  readonly nodeCount: number;
  readonly table: ShardTable<S>;
  // What was entered last: a sample, its shard and its number in that, and which of its fields.
  protected shard = 0;
  protected sample = 0;
  protected number = 0;
  protected field = 0;
  /** Names of the directories of shards; `undefined` where all samples are in the root. */
  readonly #directories: readonly Uint8Array[] | undefined;
  readonly #byName: ReadonlyMap<string, number>;
  /** Per directory of samples, and once more for all: the number of its first one. */
  readonly #firsts: Float64Array;
  readonly #names: readonly NumberedNames[];
  readonly #firstSample: NodeId;
  /** Per shard: how many fields its samples have. */
  readonly #fieldCounts: readonly number[];
  /** Per shard, and once more for all: the node of its first field. */
  readonly #firstFields: Float64Array;
  readonly #mtime: number;

  /**
   * @param shards Names of the shards' directories, if there are such.
   * @param fieldsOf Counts the fields of a shard's samples.
   */
  constructor(
    table: ShardTable<S>,
    shards: readonly string[] | undefined,
    fieldsOf: (shard: S) => number,
  ) {
    this.table = table;
    this.#directories = shards?.map((name) => encodeName(name));
    this.#byName = new Map(shards?.map((name, i) => [name, i]));
    const firsts = shards === undefined
      ? Float64Array.of(0, table.length)
      : table.firsts;
    this.#firsts = firsts;
    this.#names = Array.from(
      { length: firsts.length - 1 },
      (_, i) => numberedNames(firsts[i + 1]! - firsts[i]!, ""),
    );
    this.#firstSample = ROOT + 1 + (shards?.length ?? 0);
    this.#fieldCounts = table.shards.map(fieldsOf);
    this.#firstFields = new Float64Array(table.shards.length + 1);
    this.#firstFields[0] = this.#firstSample + table.length;
    for (const [i, count] of this.#fieldCounts.entries()) {
      const fields = count * (table.firsts[i + 1]! - table.firsts[i]!);
      this.#firstFields[i + 1] = this.#firstFields[i]! + fields;
    }
    this.nodeCount = this.#firstFields.at(-1)! - 1;
    this.#mtime = table.shards.reduce(
      (last, { mtime }) => Math.max(last, mtime),
      0,
    );
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const group = this.#groupOf(parent);
    if (group >= 0) {
      const number = this.#names[group]!.parse(name, start, end);
      const first = this.#firsts[group]!;
      const count = this.#firsts[group + 1]! - first;
      return isIndex(number, count) ? this.#firstSample + first + number : 0;
    }
    if (parent === ROOT) {
      const shard = this.#byName.get(decodeName(name, start, end));
      return shard === undefined ? 0 : ROOT + 1 + shard;
    }
    if (!this.enterSample(parent)) return 0;
    const { byName } = this.namesOf(this.shard);
    const field = byName.get(decodeName(name, start, end));
    return field === undefined ? 0 : this.fieldNode(field);
  }

  parent(node: NodeId): NodeId {
    if (this.enterField(node)) return this.#firstSample + this.sample;
    return this.#directories !== undefined && this.enterSample(node)
      ? ROOT + 1 + this.shard
      : ROOT;
  }

  isDirectory(node: NodeId): boolean {
    return Number.isInteger(node) && node >= ROOT &&
      node < this.#firstFields[0]!;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const group = this.#groupOf(dir);
    if (group >= 0) {
      const first = this.#firsts[group]!;
      const count = this.#firsts[group + 1]! - first;
      const names = this.#names[group]!;
      listNumbers(names, count, this.#firstSample + first, cursor, visit);
    } else if (dir === ROOT) {
      listNames(this.#directories!, ROOT + 1, cursor, visit);
    } else if (this.enterSample(dir)) {
      const { bytes } = this.namesOf(this.shard);
      listNames(bytes, this.fieldNode(0), cursor, visit);
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.size = 0;
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    if (into.isDirectory) return true;
    if (!this.enterFile(node)) return false;
    into.size = this.sizeOfFile();
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterFile(node)) return false;
    this.locateFile(into);
    return true;
  }

  samples(): SampleNodes {
    const runs = this.#names.flatMap((_, i) => {
      const count = this.#firsts[i + 1]! - this.#firsts[i]!;
      const first = this.#firstSample + this.#firsts[i]!;
      return count === 0 ? [] : [{ first, stride: 1, count }];
    });
    return { areDirectories: true, runs };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    if (this.enterSample(node)) {
      return this.#directories === undefined
        ? this.#names[0]!.write(this.sample, into)
        : this.#names[this.shard]!.write(this.number, into);
    }
    const name = this.#directories?.[node - ROOT - 1];
    if (name === undefined) return 0;
    into.set(name);
    return name.length;
  }

  view(node: NodeId): NodeView | undefined {
    if (this.enterSample(node)) return { kind: "datapoint" };
    return this.viewOfField(node);
  }

  abstract share(): TreeHandle;

  abstract close(): void;

  /** The names of the fields of a shard's samples. */
  protected abstract namesOf(shard: number): FieldNames;

  /** Bytes of the file that was entered. */
  protected abstract sizeOfFile(): number;

  /** Says where the file is that was entered. */
  protected abstract locateFile(into: Extent): void;

  /** Describes a field, or what is in one. */
  protected abstract viewOfField(node: NodeId): NodeView | undefined;

  /** Finds what a file is; `false` if a node is none. */
  protected enterFile(node: NodeId): boolean {
    return this.enterField(node);
  }

  /** Finds the sample of a node; `false` if it is none. */
  protected enterSample(node: NodeId): boolean {
    const sample = node - this.#firstSample;
    if (!isIndex(sample, this.table.length)) return false;
    this.sample = sample;
    this.shard = this.table.shardOf(sample);
    this.number = sample - this.table.firsts[this.shard]!;
    return true;
  }

  /** Finds the sample and the field of a node; `false` if it is no field. */
  protected enterField(node: NodeId): boolean {
    const firsts = this.#firstFields;
    const isField = Number.isInteger(node) && node >= firsts[0]! &&
      node <= this.nodeCount;
    if (!isField) return false;
    this.shard = lastUpTo(firsts, node, firsts.length - 1);
    const at = node - firsts[this.shard]!;
    const count = this.#fieldCounts[this.shard]!;
    this.number = Math.floor(at / count);
    this.field = at % count;
    this.sample = this.table.firsts[this.shard]! + this.number;
    return true;
  }

  /** The node of a field of the sample that was entered. */
  protected fieldNode(field: number): NodeId {
    return this.#firstFields[this.shard]! +
      this.number * this.#fieldCounts[this.shard]! + field;
  }

  /** The directory whose samples a node has, or -1. */
  #groupOf(node: NodeId): number {
    if (this.#directories === undefined) return node === ROOT ? 0 : -1;
    const shard = node - ROOT - 1;
    return isIndex(shard, this.#directories.length) ? shard : -1;
  }
}

/** Lists entries that are called by numbers, and are nodes from `first` on. */
export function listNumbers(
  names: NumberedNames,
  count: number,
  first: NodeId,
  cursor: number,
  visit: EntryVisitor,
): void {
  const name = new Uint8Array(names.maxLength);
  for (let number = cursor; number < count; number++) {
    const end = names.write(number, name);
    if (!visit(name, 0, end, first + number, number + 1)) return;
  }
}

function listNames(
  names: readonly Uint8Array[],
  first: NodeId,
  cursor: number,
  visit: EntryVisitor,
): void {
  for (let at = cursor; at < names.length; at++) {
    const name = names[at]!;
    if (!visit(name, 0, name.length, first + at, at + 1)) return;
  }
}
