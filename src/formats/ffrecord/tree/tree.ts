import { RecordfsError } from "../../../errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Container } from "../../../tree/format.ts";
import {
  NameTable,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";
import { NamedTree } from "../../../tree/names/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import type {
  Extent,
  NodeId,
  SampleNodes,
  Tree,
  TreeHandle,
} from "../../../tree/tree.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { SampleIndex, type SamplePart } from "../read/sample_index.ts";

/** What a tree rests on. */
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

/**
 * Samples as files: by stored names those of a packed folder, or a directory of them; plain ones in one directory,
 * named by their index.
 */
export class RecordTree extends NamedTree<NameTable | NumberedFiles> {
  override readonly sources: readonly ByteSource[];
  readonly samples?: () => SampleNodes;
  readonly #index: SampleIndex;

  constructor(
    { sources, index, mtime }: Samples,
    names: NameTable | NumberedFiles,
  ) {
    super(names, mtime);
    this.sources = sources;
    this.#index = index;
    // Whether there is such a method tells whether a walk finds the samples in their order.
    if (names instanceof NumberedFiles) this.samples = () => names.samples();
  }

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

  override share(): TreeHandle {
    const { names, mtime } = this;
    const { parts } = this.#index;
    const data: SeedData = names instanceof NameTable
      ? { parts, mtime, names: names.columns }
      : { parts, mtime, suffix: names.suffix };
    return { module: import.meta.url, data };
  }

  override close(): void {
    for (const source of this.sources) source.close();
  }
}

/** Shows files as numbered samples. */
export function sampleContainer(
  files: RecordFiles,
  ext: string | undefined,
): Container {
  const names = new NumberedFiles(files.index.length, nameSuffix(ext));
  const isOne = files.sources.length === 1;
  return showFiles(
    files,
    names,
    isOne ? "samples" : "samples in several files",
  );
}

/** Shows files by these names of their samples. */
export function showFiles(
  files: RecordFiles,
  names: NameTable | NumberedFiles,
  kind: string,
): Container {
  const { index, sources } = files;
  const mtime = sources.reduce((last, { mtime }) => Math.max(last, mtime), 0);
  const directories = names instanceof NameTable
    ? names.columns.directoryEntries.length - 1
    : 0;
  return {
    tree: new RecordTree({ ...files, mtime }, names),
    info: {
      format: "ffrecord",
      kind,
      files: names.length - 1 - directories,
      directories,
      bytes: sources.reduce((sum, { size }) => sum + size, 0),
      parts: index.parts.map((part) => ({
        path: part.path,
        bytes: part.size,
        samples: part.count,
      })),
    },
  };
}

/** Rebuilds a shared tree in another thread, over the same tables. It has no sources there. */
export function reopenTree(data: unknown): Tree {
  const { parts, mtime, names, suffix } = data as SeedData;
  const samples = { sources: [], index: new SampleIndex(parts), mtime };
  if (names !== undefined) return new RecordTree(samples, new NameTable(names));
  if (suffix !== undefined) {
    const { length } = samples.index;
    return new RecordTree(samples, new NumberedFiles(length, suffix));
  }
  throw new RecordfsError(
    "bad-handle",
    "This is no handle of an FFRecord tree",
  );
}
