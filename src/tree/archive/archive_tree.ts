import { NameTable, type NameTableColumns } from "../names/name_table.ts";
import { DIRECTORY_BIT } from "../names/name_table.ts";
import { NamedTree } from "../names/named_tree.ts";
import { indexAmong } from "../shared_numbers.ts";
import type { FormatError } from "../../base/errors.ts";
import {
  type ArchiveNotes,
  type DamagedPart,
  listUnreadable,
  type SkippedMembers,
  withDamage,
} from "./archive_notes.ts";
import { isDot } from "./path_names.ts";
import { type Extent, type NodeId, type NodeStat, ROOT } from "../tree.ts";

const SLASH = 0x2f;

/** Tables of all archive formats, over memory that threads share. A record is a file or a link. */
export interface ArchiveColumns {
  readonly names: NameTableColumns;
  /** Per record: its node; 0 if it has none. */
  readonly nodes: Uint32Array;
  /** Per record: format-specific code of why it is unreadable; 0 if it is readable. */
  readonly faults: Uint8Array;
  /** Per node: its time in milliseconds since 1970, or NaN if it has none. Absent if none has. */
  readonly times?: Float64Array;
  /** Records that are symbolic links, ascending. */
  readonly links: Uint32Array;
  /** Per link: the node that it finally resolves to, or 0. */
  readonly targets: Uint32Array;
}

/** An archive as the files that it would be extracted to, with its symbolic links. */
export abstract class ArchiveTree<Columns extends ArchiveColumns>
  extends NamedTree<NameTable> {
  readonly columns: Columns;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;

  constructor(columns: Columns, mtime: number) {
    super(new NameTable(columns.names), mtime, columns.times);
    this.columns = columns;
    // The presence of these methods says whether there are links.
    if (columns.links.length > 0) {
      this.isLink = (node) => this.linkLength(this.names.record(node)) >= 0;
      this.readLink = (node, into, at) => this.#readLink(node, into, at);
      this.target = (node) => this.#target(this.names.record(node));
    }
  }

  override stat(node: NodeId, into: NodeStat): boolean {
    into.isLink = this.linkLength(this.names.record(node)) >= 0;
    return super.stat(node, into);
  }

  /** Locates the content of a file; for a link, that of its target file. */
  override locate(node: NodeId, into: Extent): boolean {
    const record = this.names.record(node);
    return super.locate(
      this.linkLength(record) < 0 ? node : this.#target(record),
      into,
    );
  }

  /** Returns the node at a path, following links to directories, or 0. Empty names and `.` are ignored. */
  nodeAt(path: Uint8Array): NodeId {
    let node: NodeId = ROOT;
    for (let start = 0; start <= path.length && node !== 0;) {
      const slash = path.indexOf(SLASH, start);
      const end = slash < 0 ? path.length : slash;
      const isName = end > start && !isDot(path, start, end);
      if (isName) {
        if (this.isLink?.(node) === true) node = this.target!(node);
        node = this.lookup(node, path, start, end);
      }
      start = end + 1;
    }
    return node;
  }

  pathOf(record: number): string {
    const node = this.columns.nodes[record]!;
    // Another member may have its path.
    return node === 0 ? `member ${record}` : this.pathTo(node);
  }

  abstract faultOf(record: number): FormatError;

  /** Yields the records that are listed but unreadable. */
  *unreadable(): Generator<number, void, undefined> {
    const { faults, nodes } = this.columns;
    for (let record = 0; record < faults.length; record++) {
      if (faults[record] !== 0 && nodes[record]! > 0) yield record;
    }
  }

  protected notesOf(
    archive: string,
    { skipped, damage = [] }: {
      readonly skipped: SkippedMembers;
      readonly damage?: readonly DamagedPart[];
    },
  ): ArchiveNotes[] {
    const records = this.unreadable();
    const errorOf = (record: number) => this.faultOf(record);
    const listed = listUnreadable(archive, records, errorOf);
    const unreadable = withDamage(archive, damage, listed);
    return [{ archive, skipped, unreadable }];
  }

  /** Returns the length in bytes of a link record's target; -1 for other records and none. */
  protected abstract linkLength(record: number): number;

  /** Returns the offset in `names` of a link record's target. */
  protected abstract linkStart(record: number): number;

  protected linkAt(record: number): number {
    return indexAmong(this.columns.links, record);
  }

  #readLink(node: NodeId, into: Uint8Array, at: number): number {
    const record = this.names.record(node);
    const length = this.linkLength(record);
    if (length < 0) return -1;
    const { names } = this.columns.names;
    const start = this.linkStart(record);
    for (let i = 0; i < length; i++) into[at + i] = names[start + i]!;
    return length;
  }

  #target(record: number): NodeId {
    const link = this.linkAt(record);
    return link < 0 ? 0 : this.columns.targets[link]!;
  }
}

/** Counts files and links to files; of records with the same path, only the last. */
export function fileCount(
  { names, nodes, links, targets }: ArchiveColumns,
): number {
  const isFile = (node: number) =>
    node !== 0 && names.refs[node - 1]! < DIRECTORY_BIT;
  const leading = targets.reduce(
    (sum, node) => isFile(node) ? sum + 1 : sum,
    0,
  );
  const shown = nodes.reduce((sum, node) => node > 0 ? sum + 1 : sum, 0);
  return shown - links.length + leading;
}
