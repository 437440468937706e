import {
  compareBytes,
  DIRECTORY_BIT,
  type NameTableColumns,
} from "../names/name_table.ts";
import { LONGEST_NAME } from "../names/name_table_builder.ts";
import type { ArchiveColumns } from "./archive_tree.ts";
import { isDot } from "./path_names.ts";

const SLASH = 0x2f;

/**
 * Whether tables that anybody may have made are a tree of that many records: every number lies where it leads to something,
 * each directory is below one that precedes it, and has each name once.
 */
export function areSound(
  { names, nodes, faults, times, links, targets }: ArchiveColumns,
  records: number,
): boolean {
  const { refs } = names;
  const areColumns = refs instanceof Uint32Array &&
    nodes instanceof Uint32Array && faults instanceof Uint8Array &&
    links instanceof Uint32Array && targets instanceof Uint32Array &&
    (times === undefined || times instanceof Float64Array);
  if (!areColumns || !areNames(names)) return false;
  const isRecord = (record: number) => record < records;
  const isLink = new Uint8Array(records);
  for (const record of links) isLink[record] = 1;
  const isTarget = (node: number) => {
    const ref = refs[node - 1];
    return node === 0 || ref !== undefined &&
        (ref >= DIRECTORY_BIT || isRecord(ref) && isLink[ref] === 0);
  };
  return nodes.length === records && faults.length === records &&
    (times === undefined || times.length === refs.length) &&
    refs.every((ref, entry) =>
      ref >= DIRECTORY_BIT || isRecord(ref) && nodes[ref] === entry + 1
    ) &&
    nodes.every((node, record) => node === 0 || refs[node - 1] === record) &&
    links.every((record, i) =>
      isRecord(record) && (i === 0 || record > links[i - 1]!)
    ) &&
    targets.length === links.length && targets.every(isTarget);
}

function areNames(columns: NameTableColumns): boolean {
  const { names, nameStarts, nameEnds, refs, directoryEntries } = columns;
  const { firstChildren, sorted } = columns;
  const areColumns = names instanceof Uint8Array &&
    [nameStarts, nameEnds, directoryEntries, firstChildren, sorted ?? refs]
      .every((column) => column instanceof Uint32Array);
  if (!areColumns) return false;
  const count = refs.length;
  const directories = directoryEntries.length;
  return count > 0 && nameStarts.length === count &&
    nameEnds.length === count &&
    (sorted === undefined || sorted.length === count) &&
    firstChildren.length === directories + 1 && firstChildren[0] === 1 &&
    firstChildren[directories] === count && directoryEntries[0] === 0 &&
    directoryEntries.every((entry, directory) =>
      refs[entry] === DIRECTORY_BIT + directory &&
      // Its children come after it, and after those of the directories before it.
      firstChildren[directory]! > entry &&
      firstChildren[directory + 1]! >= firstChildren[directory]! &&
      areChildren(
        columns,
        firstChildren[directory]!,
        firstChildren[directory + 1]!,
      )
    ) &&
    refs.every((ref, entry) =>
      ref < DIRECTORY_BIT || directoryEntries[ref - DIRECTORY_BIT] === entry
    );
}

/** Whether entries have names that a directory can hold, each once: those in order ascend. */
function areChildren(
  { names, nameStarts, nameEnds, sorted }: NameTableColumns,
  first: number,
  past: number,
): boolean {
  let before = -1;
  for (let i = first; i < past; i++) {
    const entry = sorted === undefined ? i : sorted[i]!;
    if (entry < first || entry >= past) return false;
    const [start, end] = [nameStarts[entry]!, nameEnds[entry]!];
    const isName = start < end && end <= names.length &&
      end - start <= LONGEST_NAME && !isDots(names, start, end) &&
      !hasSpecial(names, start, end);
    if (!isName) return false;
    if (before >= 0) {
      const [from, to] = [nameStarts[before]!, nameEnds[before]!];
      if (compareBytes(names, from, to, names, start, end) >= 0) return false;
    }
    before = entry;
  }
  return true;
}

/** Whether a name is `.` or `..`. */
function isDots(names: Uint8Array, start: number, end: number): boolean {
  return isDot(names, start, end) ||
    end - start === 2 && isDot(names, start, start + 1) &&
      isDot(names, start + 1, end);
}

function hasSpecial(names: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (names[i] === SLASH || names[i] === 0) return true;
  }
  return false;
}
