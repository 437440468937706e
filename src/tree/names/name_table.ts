import type { RecordNames } from "./named_tree.ts";
import { lastUpTo } from "../shared_numbers.ts";
import type { EntryVisitor, NodeId } from "../tree.ts";

/** Marks an entry of {@linkcode NameTableColumns.refs} as a directory; the other bits are its number. */
export const DIRECTORY_BIT = 0x8000_0000;

/** Columns of a {@linkcode NameTable}, all over shared memory. */
export interface NameTableColumns {
  /** Bytes that contain all names, with gaps allowed. */
  readonly names: Uint8Array;
  /** Per entry: range of its name. */
  readonly nameStarts: Uint32Array;
  readonly nameEnds: Uint32Array;
  /** Per entry: record of a file, or `DIRECTORY_BIT | directory number`. */
  readonly refs: Uint32Array;
  /** Per directory: its own entry, ascending. */
  readonly directoryEntries: Uint32Array;
  /** Per directory, plus one: its first child's entry. Children are contiguous. */
  readonly firstChildren: Uint32Array;
  /** Entries of each directory in byte order of names; `undefined` if all directories already are in that order. */
  readonly sorted: Uint32Array | undefined;
}

/**
 * Directory tree of stored names in a few typed arrays: 12 bytes per entry plus its name, no objects, shareable between
 * threads.
 *
 * Entry e has node id e + 1; entry 0 is the root. Entries are in breadth-first order, so the children of a directory
 * are contiguous and a child's position is a stable cursor. Lookups are binary searches: packers usually sort names,
 * and unsorted containers get a sorted index.
 */
export class NameTable implements RecordNames {
  readonly columns: NameTableColumns;

  constructor(columns: NameTableColumns) {
    this.columns = columns;
  }

  get length(): number {
    return this.columns.refs.length;
  }

  isDirectory(node: NodeId): boolean {
    const ref = this.columns.refs[node - 1];
    return ref !== undefined && ref >= DIRECTORY_BIT;
  }

  record(node: NodeId): number {
    const ref = this.columns.refs[node - 1];
    return ref === undefined || ref >= DIRECTORY_BIT ? -1 : ref;
  }

  parent(node: NodeId): NodeId {
    const { firstChildren, directoryEntries } = this.columns;
    const directories = directoryEntries.length;
    const directory = lastUpTo(firstChildren, node - 1, directories);
    return directoryEntries[directory]! + 1;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const { refs, firstChildren, sorted } = this.columns;
    const { names, nameStarts, nameEnds } = this.columns;
    const ref = refs[parent - 1];
    if (ref === undefined || ref < DIRECTORY_BIT) return 0;
    const directory = ref - DIRECTORY_BIT;
    let low = firstChildren[directory]!;
    let high = firstChildren[directory + 1]! - 1;
    while (low <= high) {
      const middle = low + high >>> 1;
      const entry = sorted === undefined ? middle : sorted[middle]!;
      const from = nameStarts[entry]!;
      const order = compareBytes(
        names,
        from,
        nameEnds[entry]!,
        name,
        start,
        end,
      );
      if (order === 0) return entry + 1;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return 0;
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const { names, nameStarts, nameEnds } = this.columns;
    const start = nameStarts[node - 1];
    if (start === undefined) return 0;
    const length = nameEnds[node - 1]! - start;
    for (let i = 0; i < length; i++) into[i] = names[start + i]!;
    return length;
  }

  list(node: NodeId, cursor: number, visit: EntryVisitor): void {
    const { refs, names, nameStarts, nameEnds, firstChildren } = this.columns;
    const ref = refs[node - 1];
    if (ref === undefined || ref < DIRECTORY_BIT) return;
    const directory = ref - DIRECTORY_BIT;
    const first = firstChildren[directory]!;
    const past = firstChildren[directory + 1]!;
    for (let entry = first + cursor; entry < past; entry++) {
      const start = nameStarts[entry]!;
      const next = entry + 1 - first;
      if (!visit(names, start, nameEnds[entry]!, entry + 1, next)) return;
    }
  }
}

/** Compares two byte ranges like `memcmp`; a prefix sorts first. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const common = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < common; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}
