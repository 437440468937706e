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

/** Tables that all archives have, over memory that threads share. A record is a file or a link. */
export interface ArchiveColumns {
  readonly names: NameTableColumns;
  /** Per record: its node; 0 where it has none. */
  readonly nodes: Uint32Array;
  /** Per record: why it cannot be read, by a number of the format; 0 where it can. */
  readonly faults: Uint8Array;
  /** Per node: its time in milliseconds since 1970, or NaN where the archive has none. */
  readonly times: Float64Array;
  /** The records that are symbolic links, ascending. */
  readonly links: Uint32Array;
  /** Per link: the node that it leads to at the end, or 0. */
  readonly targets: Uint32Array;
}

/** An archive as the files that it would be extracted to, with its symbolic links. */
export abstract class ArchiveTree<Columns extends ArchiveColumns>
  extends NamedTree<NameTable> {
  readonly columns: Columns;
  readonly isLink?: (node: NodeId) => boolean;
  readonly readLink?: (node: NodeId, into: Uint8Array, at: number) => number;
  readonly target?: (node: NodeId) => NodeId;

  /** @param mtime When the archive was modified, in milliseconds since 1970. */
  constructor(columns: Columns, mtime: number) {
    super(new NameTable(columns.names), mtime, columns.times);
    this.columns = columns;
    // Whether there are such methods tells whether there are links.
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

  /** Of a link, the content is that of the file that it leads to. */
  override locate(node: NodeId, into: Extent): boolean {
    const record = this.names.record(node);
    return super.locate(
      this.linkLength(record) < 0 ? node : this.#target(record),
      into,
    );
  }

  /** The node at a path, below links to directories as well, or 0; names that are empty or `.` mean nothing. */
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

  /** The path of a record, for messages. */
  pathOf(record: number): string {
    const node = this.columns.nodes[record]!;
    // Another member may have its path.
    return node === 0 ? `member ${record}` : this.pathTo(node);
  }

  /** Makes the error of reading a record that has a fault. */
  abstract faultOf(record: number): FormatError;

  /** Finds the records that are listed, but cannot be read. */
  *unreadable(): Generator<number, void, undefined> {
    const { faults, nodes } = this.columns;
    for (let record = 0; record < faults.length; record++) {
      if (faults[record] !== 0 && nodes[record]! > 0) yield record;
    }
  }

  /** Notes what of the archive is not served as it is. */
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

  /** Bytes of the target that a link's record has; -1 for other records and none. */
  protected abstract linkLength(record: number): number;

  /** Where in the names the target of a link's record stands. */
  protected abstract linkStart(record: number): number;

  /** Number of a record's link, or -1. */
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

/** Number of files, and of links to files: of those that have one path, the last. */
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
