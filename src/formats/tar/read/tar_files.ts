import { isIndex } from "../../../tree/sample_indices.ts";
import type { SourceList } from "../../../io/storage/byte_source.ts";
import { decodeName } from "../../../base/names.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import {
  JoinedSources,
  lazySources,
  openedSources,
} from "../../../tree/joined_sources.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type { Extent, NodeId } from "../../../tree/tree.ts";
import type { TarTree } from "../tree/tar_tree.ts";
import { sampleCount } from "./tar_columns.ts";

/** A file of a sample. */
export interface SamplePart {
  /** What follows the first dot of its name; empty where there is none. */
  readonly extension: string;
  /** Number of the file. */
  readonly file: number;
}

/** The files of several tars, and the samples of WebDataset that they make, numbered through. */
export class TarFiles {
  readonly sources: SourceList;
  readonly #trees: readonly TarTree[];
  /** Per tar, and once more: the number of its first file, and of its first sample. */
  readonly #firstFiles: number[] = [0];
  readonly #firstSamples: number[] = [0];
  /** Per tar: which of the lists of sources is that of its files with holes, or -1. */
  readonly #lists: number[] = [];
  #listCount = 0;
  readonly #name = new Uint8Array(LONGEST_NAME);

  constructor(trees: readonly TarTree[]) {
    this.#trees = trees;
    const opened = trees.flatMap(({ sources }) => openedSources(sources));
    const lists = trees.map(({ sources }) => lazySources(sources));
    for (const one of lists) {
      this.#lists.push(one.length > 0 ? this.#listCount : -1);
      this.#listCount += one.length;
    }
    this.sources = new JoinedSources(opened.length, opened, lists.flat());
    for (const { columns } of trees) {
      this.#firstFiles.push(this.#firstFiles.at(-1)! + columns.nodes.length);
      this.#firstSamples.push(
        this.#firstSamples.at(-1)! + sampleCount(columns),
      );
    }
  }

  /** Number of files. */
  get length(): number {
    return this.#firstFiles.at(-1)!;
  }

  get sampleCount(): number {
    return this.#firstSamples.at(-1)!;
  }

  hasSample(index: number): boolean {
    return isIndex(index, this.sampleCount);
  }

  /** The path of a file in its tar. */
  name(file: number): string {
    const { tree, node } = this.#nodeOf(file);
    return tree.pathTo(node);
  }

  /** The file of a path: of the first tar that has it. */
  find(path: Uint8Array): number | undefined {
    for (const [at, tree] of this.#trees.entries()) {
      const record = tree.recordAt(path);
      if (record >= 0) return this.#firstFiles[at]! + record;
    }
    return undefined;
  }

  /** Where a file's content is. */
  locate(file: number, into: Extent): void {
    const { tree, node, at } = this.#nodeOf(file);
    if (!tree.locate(node, into)) { // a link that leads to no file
      into.source = -1;
      into.offset = 0;
      into.length = 0;
      into.bytes = NOTHING;
    } else if (into.source === 0) into.source = at;
    else {
      into.source = this.#trees.length + this.#lists[at]! +
        (into.source - 1) * this.#listCount;
    }
  }

  /** The files of a sample. */
  parts(sample: number): SamplePart[] {
    const at = this.#tarAt(sample);
    const { columns } = this.#trees[at]!;
    const first = this.#firstFiles[at]!;
    const own = sample - this.#firstSamples[at]!;
    const records = columns.sampleRecords.subarray(
      columns.sampleStarts[own]!,
      columns.sampleStarts[own + 1]!,
    );
    return Array.from(records, (record) => ({
      extension: this.#extension(this.#trees[at]!, columns.nodes[record]!),
      file: first + record,
    }));
  }

  /** What the names of a sample's files in the tar have in common. */
  key(sample: number): string {
    const at = this.#tarAt(sample);
    return this.#trees[at]!.keyOf(sample - this.#firstSamples[at]!);
  }

  /** The tar of a sample. */
  tarOf(sample: number): string {
    return this.#trees[this.#tarAt(sample)]!.facts.path;
  }

  #tarAt(sample: number): number {
    return lastUpTo(this.#firstSamples, sample, this.#trees.length);
  }

  #nodeOf(file: number): { tree: TarTree; node: NodeId; at: number } {
    const at = lastUpTo(this.#firstFiles, file, this.#trees.length);
    const tree = this.#trees[at]!;
    const node = tree.columns.nodes[file - this.#firstFiles[at]!]!;
    return { tree, node, at };
  }

  #extension(tree: TarTree, node: NodeId): string {
    const length = tree.nameOf(node, this.#name);
    const dot = this.#name.indexOf(DOT, 1);
    return dot < 0 || dot >= length
      ? ""
      : decodeName(this.#name, dot + 1, length);
  }
}

const DOT = 0x2e;
const NOTHING = new Uint8Array(0);
