import { decodeName, encodeName } from "../../base/names.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import { type NumberedNames, numberedNames } from "../names/numbered_names.ts";
import { KeyedNumbers, type SampleKeys } from "../names/sample_keys.ts";
import { isIndex } from "../sample_indices.ts";
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

/**
 * Samples named by their numbers, all in the root or in a directory per shard. Subclasses define whether a sample is a
 * file or a directory, and its contents.
 *
 * Node ids: the root, the shards' directories, all samples; then those of subclasses.
 *
 * @typeParam S Shards of samples.
 */
export abstract class SampleTree<S extends KnownFile> implements Tree {
  abstract readonly sources: Tree["sources"];
  abstract readonly nodeCount: number;
  readonly table: ShardTable<S>;
  // Current sample, set by `enterSample`: its shard, its index, and its index in the shard.
  protected shard = 0;
  protected sample = 0;
  protected number = 0;
  protected readonly firstSample: NodeId;
  /** Names of the shards' directories; `undefined` if all samples are in the root. */
  readonly #directories: readonly Uint8Array[] | undefined;
  readonly #byName: ReadonlyMap<string, number>;
  /** Per directory of samples, plus one: index of its first sample. */
  readonly #firsts: Float64Array;
  readonly #names: readonly NumberedNames[];
  readonly #mtime: number;

  /**
   * @param shards Names of the shards' directories, if any.
   * @param keysOf Returns the keys by which samples of a shard are named; by default, names are their numbers.
   */
  constructor(
    table: ShardTable<S>,
    shards: readonly string[] | undefined,
    suffix: string,
    keysOf?: (shard: S) => SampleKeys | undefined,
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
      (_, i) => {
        const count = firsts[i + 1]! - firsts[i]!;
        const isOwn = shards !== undefined || table.shards.length === 1;
        const keys = isOwn ? keysOf?.(table.shards[i]!) : undefined;
        return keys === undefined
          ? numberedNames(count, suffix)
          : new KeyedNumbers(keys, count, suffix);
      },
    );
    this.firstSample = ROOT + 1 + (shards?.length ?? 0);
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
      return isIndex(number, count) ? this.firstSample + first + number : 0;
    }
    if (parent !== ROOT) return 0;
    const shard = this.#byName.get(decodeName(name, start, end));
    return shard === undefined ? 0 : ROOT + 1 + shard;
  }

  parent(node: NodeId): NodeId {
    return this.#directories !== undefined && this.enterSample(node)
      ? ROOT + 1 + this.shard
      : ROOT;
  }

  isDirectory(node: NodeId): boolean {
    return Number.isInteger(node) && node >= ROOT && node < this.firstSample;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const group = this.#groupOf(dir);
    if (group >= 0) {
      const first = this.#firsts[group]!;
      const count = this.#firsts[group + 1]! - first;
      const names = this.#names[group]!;
      listNumbers(names, count, this.firstSample + first, cursor, visit);
    } else if (dir === ROOT) {
      listNames(this.#directories!, ROOT + 1, cursor, visit);
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.size = 0;
    into.mtime = this.#mtime;
    into.isDirectory = this.isDirectory(node);
    if (into.isDirectory) return true;
    const size = this.sizeOf(node);
    if (size < 0) return false;
    into.size = size;
    return true;
  }

  samples(): SampleNodes {
    const runs = this.#names.flatMap((_, i) => {
      const count = this.#firsts[i + 1]! - this.#firsts[i]!;
      const first = this.firstSample + this.#firsts[i]!;
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

  abstract locate(node: NodeId, into: Extent): boolean;

  abstract share(): TreeHandle;

  abstract close(): void;

  /** Returns the size of a file in bytes; -1 if the node is not a file. */
  protected abstract sizeOf(node: NodeId): number;

  /** Sets the current sample from a node; returns `false` if it is not a sample. */
  protected enterSample(node: NodeId): boolean {
    const sample = node - this.firstSample;
    if (!isIndex(sample, this.table.length)) return false;
    this.sample = sample;
    this.shard = this.table.shardOf(sample);
    this.number = sample - this.table.firsts[this.shard]!;
    return true;
  }

  /** Returns the number of the sample directory that a node is, or -1. */
  #groupOf(node: NodeId): number {
    if (this.#directories === undefined) return node === ROOT ? 0 : -1;
    const shard = node - ROOT - 1;
    return isIndex(shard, this.#directories.length) ? shard : -1;
  }
}

/** Lists entries named by numbers, whose nodes start at `first`, `stride` apart. */
export function listNumbers(
  names: NumberedNames,
  count: number,
  first: NodeId,
  cursor: number,
  visit: EntryVisitor,
  stride = 1,
): void {
  const name = new Uint8Array(names.maxLength);
  for (let number = cursor; number < count; number++) {
    const end = names.write(number, name);
    if (!visit(name, 0, end, first + number * stride, number + 1)) return;
  }
}

export function listNames(
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
