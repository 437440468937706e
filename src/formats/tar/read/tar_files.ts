import type { SourceList } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  JoinedSources,
  lazySources,
  openedSources,
} from "../../../tree/joined_sources.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { type Extent, placeBytes } from "../../../tree/tree.ts";
import type { TarFacts, TarTree } from "../tree/tar_tree.ts";

/** The files of several tars, numbered through. */
export class TarFiles {
  readonly sources: SourceList;
  readonly trees: readonly TarTree[];
  readonly storage: Storage;
  /** Tars by file index. */
  readonly table: ShardTable<TarFacts>;
  /** Per tar: index of its sparse files in the lists of lazy sources, or -1. */
  readonly #lists: number[] = [];
  #listCount = 0;

  /** @param lost Tars that are skipped. */
  constructor(
    trees: readonly TarTree[],
    storage: Storage,
    lost: readonly LostShard[],
  ) {
    this.trees = trees;
    this.storage = storage;
    const opened = trees.flatMap(({ sources }) => openedSources(sources));
    const lists = trees.map(({ sources }) => lazySources(sources));
    for (const one of lists) {
      this.#lists.push(one.length > 0 ? this.#listCount : -1);
      this.#listCount += one.length;
    }
    this.sources = new JoinedSources(opened.length, opened, lists.flat());
    this.table = new ShardTable(
      trees.map(({ facts }) => facts),
      ({ columns }) => columns.nodes.length,
      lost,
    );
  }

  locate(file: number, into: Extent): void {
    const at = this.table.shardOf(file);
    const tree = this.trees[at]!;
    const node = tree.columns.nodes[file - this.table.firsts[at]!]!;
    if (!tree.locate(node, into)) { // a link to something other than a file
      placeBytes(NOTHING, into);
    } else if (into.source === 0) into.source = at;
    else {
      into.source = this.trees.length + this.#lists[at]! +
        (into.source - 1) * this.#listCount;
    }
  }

  close(): void {
    for (const tree of this.trees) tree.close();
  }
}

const NOTHING = new Uint8Array(0);
