import { RecordfsError } from "../../../errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { NameTable, type NameTableColumns } from "../../../tree/name_table.ts";
import { NamedTree, type RecordNames } from "../../../tree/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import type { SampleNodes } from "../../../tree/tree.ts";
import type { Extent, NodeId, Tree, TreeSeed } from "../../../tree/tree.ts";
import { SampleIndex, type SamplePart } from "../read/sample_index.ts";

/** What both trees rest on. */
interface Samples {
  readonly sources: readonly ByteSource[];
  readonly index: SampleIndex;
  /** Last modification of the newest file, in milliseconds since 1970. */
  readonly mtime: number;
}

/** What another thread rebuilds a tree from: `names` for packed folders, `suffix` for samples. */
interface SeedData {
  readonly parts: readonly SamplePart[];
  readonly mtime: number;
  readonly names?: NameTableColumns;
  readonly suffix?: string;
}

abstract class RecordTree extends NamedTree {
  override readonly sources: readonly ByteSource[];
  readonly #index: SampleIndex;

  constructor({ sources, index, mtime }: Samples, names: RecordNames) {
    super(names, mtime);
    this.sources = sources;
    this.#index = index;
  }

  protected abstract seed(): Partial<SeedData>;

  override locate(node: NodeId, into: Extent): boolean {
    const sample = this.names.record(node);
    // No wrong bytes, however early they are asked for.
    if (sample >= 0) this.#index.waitUntilSound(sample);
    return super.locate(node, into);
  }

  protected override locateRecord(sample: number, into: Extent): void {
    this.#index.locate(sample, into);
  }

  sampleOf(node: NodeId): number {
    const sample = this.names.record(node);
    return sample < 0
      ? -1
      : sample - this.#index.startOf(this.#index.partOf(sample));
  }

  override share(): TreeSeed {
    const data: SeedData = {
      parts: this.#index.parts,
      mtime: this.mtime,
      ...this.seed(),
    };
    return { module: import.meta.url, data };
  }

  override close(): void {
    for (const source of this.sources) source.close();
  }
}

/** A packed folder, or a directory of them: stored names, each file one sample. */
export class PackedTree extends RecordTree {
  readonly #names: NameTable;

  constructor(samples: Samples, names: NameTable) {
    super(samples, names);
    this.#names = names;
  }

  protected override seed(): Partial<SeedData> {
    return { names: this.#names.columns };
  }
}

/** Plain samples in one directory, named by their index. */
export class SampleTree extends RecordTree {
  readonly #files: NumberedFiles;

  /** @param suffix What every name ends in, such as `.jpg`; may be empty. */
  constructor(samples: Samples, suffix: string) {
    const files = new NumberedFiles(samples.index.length, suffix);
    super(samples, files);
    this.#files = files;
  }

  samples(): SampleNodes {
    return this.#files.samples();
  }

  protected override seed(): Partial<SeedData> {
    return { suffix: this.#files.suffix };
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. It has no sources there. */
export function reviveTree(data: unknown): Tree {
  const { parts, mtime, names, suffix } = data as SeedData;
  const samples = { sources: [], index: new SampleIndex(parts), mtime };
  if (names !== undefined) return new PackedTree(samples, new NameTable(names));
  if (suffix !== undefined) return new SampleTree(samples, suffix);
  throw new RecordfsError("bad-seed", "This is no seed of an FFRecord tree");
}
