import { warnOfAll } from "../../base/message_text.ts";
import {
  type ArchiveNotes,
  notedInfo,
  noteLines,
} from "../archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../format.ts";
import type { Samples } from "../samples/samples.ts";
import type { RecordTree } from "./record_tree.ts";
import type { RecordFile, RecordTable } from "./record_table.ts";

/** What formats say of a container of records. */
export interface RecordsInfo {
  readonly format: string;
  readonly kind: string;
  readonly facts: Readonly<Record<string, number>>;
  /** Whether each file is shown as a directory. */
  readonly areShards: boolean;
  /** Whether records are shown as directories. */
  readonly decoded: boolean;
  /** Sentences about oddities that are not damage. */
  readonly odd?: readonly string[];
  /** What cannot be read. */
  readonly notes: readonly ArchiveNotes[];
}

/** Returns an opened container of records, and warns of what cannot be read. */
export function recordContainer<F extends RecordFile>(
  tree: RecordTree<F>,
  samples: Samples,
  table: RecordTable<F>,
  { areShards, decoded, facts, notes, odd = [], ...named }: RecordsInfo,
  { onWarning }: ContainerOptions,
): Container {
  const { shards: files, length } = table;
  warnOfAll(noteLines(notes), onWarning);
  const { facts: damaged, ...noted } = notedInfo(notes);
  const parts = files.map(({ path, size }, file) => ({
    path,
    bytes: size,
    samples: table.countIn(file),
  }));
  return {
    tree,
    samples,
    info: {
      ...named,
      // The files of a decoded record are unknown until it is read.
      files: (decoded ? 0 : length) + table.cutFiles.length,
      directories: (areShards ? files.length : 0) + (decoded ? length : 0),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      facts: { ...facts, ...damaged },
      ...noted,
      ...odd.length > 0 ? { notes: odd } : {},
      parts,
    },
  };
}
