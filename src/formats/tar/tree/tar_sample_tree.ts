import { decodeName, encodeName } from "../../../base/names.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import { typeOfExtension } from "../../../codecs/values/value_type.ts";
import { type NodeView, valueView } from "../../../tree/node_view.ts";
import { SampleTree } from "../../../tree/samples/sample_tree.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  newStat,
  type NodeId,
  type NodeStat,
  placeBytes,
  ROOT,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { KEY, suffixOf } from "../read/sample_keys.ts";
import { sampleCount, type TarColumns } from "../read/tar_columns.ts";
import {
  reopenTree as reopenTar,
  type TarFacts,
  type TarTree,
} from "./tar_tree.ts";

/** The key is listed before the other files of a sample. */
const KEY_NAME = encodeName(KEY);

/**
 * Sample view: samples of a tar as directories, `000042/jpg` and `000042/__key__`. Files that belong to no sample are
 * hidden.
 *
 * Node ids: the root, the samples, their keys, and all of their files.
 */
export class TarSampleTree extends SampleTree<TarFacts> {
  readonly sources: Tree["sources"];
  readonly nodeCount: number;
  readonly columns: TarColumns;
  readonly tar: TarTree;
  /** First nodes of keys and files. */
  readonly #firstKey: NodeId;
  readonly #firstFile: NodeId;
  readonly #extent = newExtent();
  readonly #stat = newStat();
  readonly #name = new Uint8Array(LONGEST_NAME);

  /** @param tar Tree with grouped files; closed with this one. */
  constructor(tar: TarTree) {
    const count = sampleCount(tar.columns);
    super(new ShardTable([tar.facts], () => count), undefined, "");
    this.tar = tar;
    this.sources = tar.sources;
    this.columns = tar.columns;
    this.#firstKey = this.firstSample + count;
    this.#firstFile = this.#firstKey + count;
    this.nodeCount = this.#firstFile - 1 + tar.columns.sampleRecords.length;
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent === ROOT) return super.lookup(parent, name, start, end);
    const wanted = decodeName(name, start, end);
    let found = 0;
    this.list(parent, 0, (name, start, end, node) => {
      if (decodeName(name, start, end) === wanted) found = node;
      return found === 0;
    });
    return found;
  }

  override parent(node: NodeId): NodeId {
    return this.#enterFile(node) ? this.firstSample + this.sample : ROOT;
  }

  override isDirectory(node: NodeId): boolean {
    return node === ROOT || this.enterSample(node);
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (!this.enterSample(dir)) return super.list(dir, cursor, visit);
    const { sample } = this;
    const { sampleStarts } = this.columns;
    const first = sampleStarts[sample]!;
    const count = sampleStarts[sample + 1]! - first;
    if (cursor === 0) {
      const node = this.#firstKey + sample;
      if (!visit(KEY_NAME, 0, KEY_NAME.length, node, 1)) return;
    }
    for (let at = Math.max(cursor - 1, 0); at < count; at++) {
      const node = this.#firstFile + first + at;
      const length = this.#writeSuffix(node);
      if (!visit(this.#name, 0, length, node, at + 2)) return;
    }
  }

  /** A sample and its key have the time of its first file. */
  override stat(node: NodeId, into: NodeStat): boolean {
    if (!super.stat(node, into)) return false;
    const first = this.#firstFile + this.columns.sampleStarts[this.sample]!;
    const timed = node === ROOT ? ROOT : this.#inTar(Math.max(node, first));
    this.tar.stat(timed, this.#stat);
    into.mtime = this.#stat.mtime;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.#enterFile(node)) return false;
    if (node >= this.#firstFile) {
      return this.tar.locate(this.#inTar(node), into);
    }
    placeBytes(encodeName(this.tar.keyOf(this.sample)), into);
    return true;
  }

  view(node: NodeId): NodeView | undefined {
    if (this.enterSample(node)) return { kind: "datapoint" };
    if (!this.#enterFile(node)) return undefined;
    const extension = node < this.#firstFile
      ? "txt"
      : decodeName(this.#name, 0, this.#writeSuffix(node));
    return valueView(typeOfExtension(extension));
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.tar.share().data };
  }

  close(): void {
    this.tar.close();
  }

  protected override sizeOf(node: NodeId): number {
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }

  /** Sets the current sample to that of a key or file; `false` for other nodes. */
  #enterFile(node: NodeId): boolean {
    const isFile = Number.isInteger(node) && node >= this.#firstKey &&
      node <= this.nodeCount;
    if (!isFile) return false;
    const file = node - this.#firstFile;
    this.sample = file < 0
      ? node - this.#firstKey
      : lastUpTo(this.columns.sampleStarts, file, this.table.length);
    return true;
  }

  #inTar(node: NodeId): NodeId {
    const { nodes, sampleRecords } = this.columns;
    return nodes[sampleRecords[node - this.#firstFile]!]!;
  }

  /** Writes the name of a sample's file into the buffer, and returns its length. */
  #writeSuffix(node: NodeId): number {
    const name = this.#name;
    const length = this.tar.nameOf(this.#inTar(node), name);
    const start = suffixOf(name, length);
    name.copyWithin(0, start, length);
    return length - start;
  }
}

/** Recreates a shared tree in another thread, over the same tables. */
export async function reopenTree(data: unknown): Promise<Tree> {
  return new TarSampleTree(await reopenTar(data));
}
