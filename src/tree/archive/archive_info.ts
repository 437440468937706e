import type { ContainerInfo } from "../format.ts";
import type { Tree } from "../tree.ts";
import { type ArchiveNotes, notedInfo } from "./archive_notes.ts";
import { type ArchiveColumns, fileCount } from "./archive_tree.ts";

interface Described {
  readonly columns: ArchiveColumns;
  readonly notes: readonly ArchiveNotes[];
}

/** Describes archives: `own` are facts of the format, `lost` notes of skipped archives. */
export function archiveInfo(
  tree: Tree,
  archives: readonly Described[],
  { facts: ownFacts, parts, notes, ...own }: Pick<
    ContainerInfo,
    "facts" | "format" | "kind" | "notes" | "parts"
  >,
  lost: readonly ArchiveNotes[] = [],
): ContainerInfo {
  const total = (count: (columns: ArchiveColumns) => number) =>
    archives.reduce((sum, { columns }) => sum + count(columns), 0);
  const links = total(({ links }) => links.length);
  const records = total(({ nodes }) =>
    nodes.reduce((sum, node) => node > 0 ? sum + 1 : sum, 0)
  );
  const { facts: odd, ...noted } = notedInfo([
    ...lost,
    ...archives.flatMap(({ notes }) => notes),
  ]);
  const facts = { ...ownFacts, ...links > 0 ? { links } : {}, ...odd };
  return {
    ...own,
    files: total(fileCount),
    directories: tree.nodeCount - 1 - records,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    ...Object.keys(facts).length > 0 ? { facts } : {},
    ...noted,
    ...notes !== undefined && notes.length > 0 ? { notes } : {},
    parts,
  };
}
