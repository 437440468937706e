import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { ArchiveNotes } from "../../../tree/archive/archive_notes.ts";
import { ArchiveTree } from "../../../tree/archive/archive_tree.ts";
import type {
  Extent,
  SampleNodes,
  Tree,
  TreeHandle,
} from "../../../tree/tree.ts";
import { isWebDataset, type TarColumns } from "../read/tar_columns.ts";
import { sampleRuns } from "./sample_nodes.ts";

/** What another thread rebuilds a tree from. */
interface Seed {
  readonly columns: TarColumns;
  readonly mtime: number;
}

/** A tar as the files that it would be extracted to; their contents are parts of it. */
export class TarTree extends ArchiveTree<TarColumns> {
  readonly sources: readonly ByteSource[];
  /** What of the tar is not served as it is; `undefined` in other threads. */
  readonly notes: ArchiveNotes | undefined;
  readonly samples?: () => SampleNodes;

  /** @param mtime When the tar was modified, in milliseconds since 1970. */
  constructor(
    sources: readonly ByteSource[],
    columns: TarColumns,
    mtime: number,
    notes?: ArchiveNotes,
  ) {
    super(columns, mtime);
    this.notes = notes;
    this.sources = sources;
    // Whether there is such a method tells whether there are samples of several files.
    if (isWebDataset(columns)) {
      this.samples = () => ({
        areDirectories: false,
        runs: sampleRuns(columns, this.names),
      });
    }
  }

  /** A tree that another thread has shared; it has no sources. */
  static reopened(data: unknown): TarTree {
    const { columns, mtime } = data as Seed;
    return new TarTree([], columns, mtime);
  }

  share(): TreeHandle {
    const data: Seed = { columns: this.columns, mtime: this.mtime };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  protected override sizeOf(record: number): number {
    const path = this.linkLength(record);
    return path >= 0 ? path : this.columns.sizes[record]!;
  }

  protected locateRecord(record: number, into: Extent): void {
    into.source = 0;
    into.offset = this.columns.offsets[record]!;
    into.length = this.columns.sizes[record]!;
    into.crc32 = -1;
    into.bytes = undefined;
  }

  protected linkLength(record: number): number {
    const size = this.columns.sizes[record];
    return size !== undefined && size < 0 ? -1 - size : -1;
  }

  protected linkStart(record: number): number {
    return this.columns.offsets[record]!;
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. It has no sources there. */
export function reopenTree(data: unknown): Tree {
  return TarTree.reopened(data);
}
