import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type {
  ArchiveNotes,
  SkippedMembers,
} from "../../../tree/archive/archive_notes.ts";
import {
  type ArchiveColumns,
  ArchiveTree,
} from "../../../tree/archive/archive_tree.ts";
import { MemberSources } from "../../../tree/archive/member_sources.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import {
  reopenArchive,
  shareArchive,
  type SharedArchive,
} from "../../../tree/archive/shared_archive.ts";
import { JoinedSources } from "../../../tree/joined_sources.ts";
import { atOnce } from "../../../tree/not_loaded.ts";
import { type NodeView, valueView } from "../../../tree/node_view.ts";
import {
  type Extent,
  type NodeId,
  placeBytes,
  placeRange,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import { VALUE_TYPES } from "../../../codecs/values/value_type.ts";
import type { FormatError } from "../../../base/errors.ts";
import type { Catalog, Entry } from "../read/catalog.ts";
import { type FileForm, Hdf5File } from "../read/hdf5_file.ts";
import { render } from "../values/render.ts";
import { arraySource, sizeOf } from "./array_source.ts";

/** Tables of a file. A record is a dataset, attributes, or a link. */
export interface Hdf5Columns extends ArchiveColumns {
  readonly linkStarts: Uint32Array;
  readonly linkLengths: Uint32Array;
  readonly entries: Catalog["entries"];
  /** Number of rows that are samples; `undefined` if files are. */
  readonly rows: number | undefined;
}

export interface Hdf5Parts {
  readonly file: Hdf5File;
  readonly storage: Storage;
  readonly columns: Hdf5Columns;
  /** Skipped objects; undefined in other threads. */
  readonly skipped?: SkippedMembers;
}

/** Data from which another thread rebuilds a tree. */
interface Seed {
  readonly columns: Hdf5Columns;
  readonly form: FileForm;
  readonly archive: SharedArchive;
}

/** Groups as directories, and datasets and attributes as files. Arrays are sources of their own, by record. */
export class Hdf5Tree extends ArchiveTree<Hdf5Columns> {
  readonly sources: Tree["sources"];
  readonly samples?: () => SampleNodes;
  readonly #parts: Hdf5Parts;
  readonly #members: MemberSources;
  /** The content made last: its size is asked for first. */
  #last: readonly [record: number, bytes: Uint8Array] | undefined;

  /** @param isOwner Whether the file is among the tree's sources; otherwise these come from elsewhere. */
  constructor(parts: Hdf5Parts, isOwner = true) {
    const { file, storage, columns } = parts;
    super(columns, file.source.mtime);
    this.#parts = parts;
    const archive = file.source;
    this.#members = new MemberSources({ archive, storage }, (record) => {
      const entry = columns.entries[record];
      const isArray = entry?.kind === "array" && entry.why === undefined;
      return isArray ? arraySource(file, entry) : undefined;
    });
    const opened = isOwner ? [archive] : [];
    this.sources = new JoinedSources(1, opened, [this.#members]);
    const { rows: count } = columns;
    if (count !== undefined) {
      // Rows are no nodes here; the sample view has them.
      const runs = [{ first: 0, stride: 0, count }];
      this.samples = () => ({ areDirectories: undefined, runs });
    }
  }

  /** Notes on what is not shown or cannot be read; none in other threads. */
  get notes(): readonly ArchiveNotes[] {
    const { skipped } = this.#parts;
    return skipped === undefined
      ? []
      : this.notesOf(this.#parts.file.source.name, { skipped });
  }

  view(node: NodeId): NodeView | undefined {
    const { entries } = this.columns;
    const entry = entries[this.isLink?.(node) ? -1 : this.names.record(node)];
    return entry?.kind === "array" && entry.why === undefined
      ? valueView(VALUE_TYPES.array)
      : undefined;
  }

  locateRecord(record: number, into: Extent): void {
    const entry = this.columns.entries[record]!;
    if (entry.why !== undefined) throw this.faultOf(record);
    if (entry.kind !== "array") placeBytes(this.#content(record, entry), into);
    else placeRange(1 + record, 0, sizeOf(entry), into);
  }

  override faultOf(record: number): FormatError {
    const { why, path, isDamaged } = this.columns.entries[record]!;
    const { name } = this.#parts.file.source;
    const code = isDamaged ? "bad-structure" : "unreadable-member";
    return memberError(code, name, path, `it ${why}`);
  }

  share(): TreeHandle {
    const { file: { source, form }, storage, columns } = this.#parts;
    const archive = shareArchive(source, storage);
    const data: Seed = { columns, form, archive };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#members.close();
    this.#parts.file.source.close();
  }

  protected override sizeOf(record: number): number {
    const entry = this.columns.entries[record]!;
    if (this.linkAt(record) >= 0) return this.linkLength(record);
    if (entry.why !== undefined) return 0;
    return entry.kind === "array"
      ? sizeOf(entry)
      : this.#content(record, entry).length;
  }

  protected linkLength(record: number): number {
    const link = this.linkAt(record);
    return link < 0 ? -1 : this.columns.linkLengths[link]!;
  }

  protected linkStart(record: number): number {
    return this.columns.linkStarts[this.linkAt(record)]!;
  }

  #content(record: number, entry: Entry): Uint8Array {
    return this.#last?.[0] === record
      ? this.#last[1]
      : atOnce(this.#parts.file.source.name, () => this.#make(record, entry));
  }

  *#make(record: number, entry: Entry): Steps<Uint8Array> {
    const bytes = yield* render(this.#parts.file, entry);
    this.#last = [record, bytes];
    return bytes;
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. Throws if the file has changed. */
export async function reopenTree(data: unknown): Promise<Hdf5Tree> {
  const { columns, form, archive: shared } = data as Seed;
  const { archive, storage } = await reopenArchive(shared);
  const file = new Hdf5File(archive, form);
  return new Hdf5Tree({ file, storage, columns }, false);
}
