import { decodeName, encodeName } from "../../../base/names.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  newStat,
  type NodeId,
  type NodeStat,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { KEY, suffixOf } from "../read/sample_keys.ts";
import { sampleCount, type TarColumns } from "../read/tar_columns.ts";
import { extensionView } from "./extension_view.ts";
import { reopenTree as reopenTar, type TarTree } from "./tar_tree.ts";

/** Where the key stands among the files of a sample: before them. */
const KEY_NAME = encodeName(KEY);

/**
 * The samples of a tar as directories, `000042/jpg` and `000042/__key__`, for who looks at them as rows. Files that are
 * of no sample are not shown.
 *
 * Node ids: the root, the samples, their keys, and the files of all of them.
 */
export class SampleRows implements Tree {
  readonly sources: Tree["sources"];
  readonly columns: TarColumns;
  readonly tar: TarTree;
  readonly #names: NumberedNames;
  readonly #count: number;
  /** Nodes of the first key, and of the first file. */
  readonly #firstKey: NodeId;
  readonly #firstFile: NodeId;
  readonly #extent = newExtent();
  readonly #stat = newStat();
  readonly #name = new Uint8Array(LONGEST_NAME);

  /** @param tar One whose files are gathered to samples; it is closed with this. */
  constructor(tar: TarTree) {
    this.tar = tar;
    this.sources = tar.sources;
    this.columns = tar.columns;
    this.#count = sampleCount(tar.columns);
    this.#names = numberedNames(this.#count, "");
    this.#firstKey = ROOT + 1 + this.#count;
    this.#firstFile = this.#firstKey + this.#count;
  }

  get nodeCount(): number {
    return this.#firstFile - 1 + this.columns.sampleRecords.length;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent === ROOT) {
      const sample = this.#names.parse(name, start, end);
      return sample >= 0 && sample < this.#count ? ROOT + 1 + sample : 0;
    }
    const wanted = decodeName(name, start, end);
    let found = 0;
    this.list(parent, 0, (name, start, end, node) => {
      if (decodeName(name, start, end) === wanted) found = node;
      return found === 0;
    });
    return found;
  }

  parent(node: NodeId): NodeId {
    const sample = this.#sampleOf(node);
    return sample < 0 || node < this.#firstKey ? ROOT : ROOT + 1 + sample;
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT || this.#sampleOf(node) >= 0 && node < this.#firstKey;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir === ROOT) return this.#listSamples(cursor, visit);
    if (!this.isDirectory(dir)) return;
    const sample = dir - ROOT - 1;
    const { sampleStarts } = this.columns;
    const first = sampleStarts[sample]!;
    const count = sampleStarts[sample + 1]! - first;
    if (cursor === 0) {
      const node = this.#firstKey + sample;
      if (!visit(KEY_NAME, 0, KEY_NAME.length, node, 1)) return;
    }
    for (let at = Math.max(cursor - 1, 0); at < count; at++) {
      const node = this.#firstFile + first + at;
      const length = this.nameOf(node, this.#name);
      if (!visit(this.#name, 0, length, node, at + 2)) return;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    const sample = this.#sampleOf(node);
    into.isDirectory = this.isDirectory(node);
    into.size = 0;
    if (sample < 0) {
      this.tar.stat(ROOT, this.#stat);
      into.mtime = this.#stat.mtime;
      return node === ROOT;
    }
    const first = this.#firstFile + this.columns.sampleStarts[sample]!;
    this.tar.stat(this.#inTar(Math.max(node, first)), this.#stat);
    into.mtime = this.#stat.mtime;
    if (into.isDirectory) return true;
    into.size = this.locate(node, this.#extent) ? this.#extent.length : 0;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (this.#sampleOf(node) < 0 || node < this.#firstKey) return false;
    if (node >= this.#firstFile) {
      return this.tar.locate(this.#inTar(node), into);
    }
    const sample = node - this.#firstKey;
    const bytes = encodeName(this.tar.keyOf(sample));
    into.source = -1;
    into.offset = 0;
    into.length = bytes.length;
    into.crc32 = -1;
    into.bytes = bytes;
    return true;
  }

  samples(): SampleNodes {
    const run = { first: ROOT + 1, stride: 1, count: this.#count };
    return { areDirectories: true, runs: [run] };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const sample = this.#sampleOf(node);
    if (sample < 0) return 0;
    if (node < this.#firstKey) return this.#names.write(sample, into);
    if (node < this.#firstFile) {
      into.set(KEY_NAME);
      return KEY_NAME.length;
    }
    const length = this.tar.nameOf(this.#inTar(node), into);
    const start = suffixOf(into, length);
    into.copyWithin(0, start, length);
    return length - start;
  }

  view(node: NodeId): NodeView | undefined {
    if (this.#sampleOf(node) < 0) return undefined;
    if (node < this.#firstKey) return { kind: "datapoint" };
    if (node < this.#firstFile) return extensionView("txt");
    const length = this.nameOf(node, this.#name);
    return extensionView(decodeName(this.#name, 0, length));
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.tar.share().data };
  }

  close(): void {
    this.tar.close();
  }

  /** The sample that a node is, or is in; -1 for the root and for no node. */
  #sampleOf(node: NodeId): number {
    if (!Number.isInteger(node) || node <= ROOT || node > this.nodeCount) {
      return -1;
    }
    if (node < this.#firstKey) return node - ROOT - 1;
    if (node < this.#firstFile) return node - this.#firstKey;
    const { sampleStarts } = this.columns;
    return lastUpTo(sampleStarts, node - this.#firstFile, this.#count);
  }

  /** The node of a sample's file in the tar. */
  #inTar(node: NodeId): NodeId {
    const { nodes, sampleRecords } = this.columns;
    return nodes[sampleRecords[node - this.#firstFile]!]!;
  }

  #listSamples(cursor: number, visit: EntryVisitor): void {
    for (let sample = cursor; sample < this.#count; sample++) {
      const end = this.#names.write(sample, this.#name);
      const node = ROOT + 1 + sample;
      if (!visit(this.#name, 0, end, node, sample + 1)) return;
    }
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. */
export async function reopenTree(data: unknown): Promise<Tree> {
  return new SampleRows(await reopenTar(data));
}
