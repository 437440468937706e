import type { FormatError } from "../../base/errors.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";
import {
  type ArchiveNotes,
  unreadableNotes,
} from "../archive/archive_notes.ts";
import { lostNotes } from "../samples/open_shards.ts";
import { ShardTable } from "../samples/shard_table.ts";
import type { Extent } from "../tree.ts";
import { type Cut, cutError } from "./cut.ts";

/** A file of records for other threads: plain data, and tables in shared memory. */
export interface RecordFile extends KnownFile {
  /** The damaged record that follows the sound ones. */
  readonly cut?: Cut | undefined;
}

/**
 * Sound records of one or several files, numbered from 0 across files.
 *
 * @typeParam F Files with their tables.
 */
export abstract class RecordTable<F extends RecordFile> extends ShardTable<F> {
  /** Makes the error for a record whose checksum differs; absent if records have none. */
  mismatch?(record: number, expected: number, actual: number): FormatError;

  /** Locates a record by its number in a file. */
  abstract locateIn(file: number, number: number, into: Extent): void;

  locate(record: number, into: Extent): void {
    const file = this.shardOf(record);
    this.locateIn(file, record - this.firsts[file]!, into);
  }

  /** Numbers of the files that end in a damaged record. */
  get cutFiles(): readonly number[] {
    return this.shards.flatMap(({ cut }, file) =>
      cut === undefined ? [] : [file]
    );
  }

  /** Makes the error for the damaged record at the end of a file; `suffix` is that of record names. */
  cutError(file: number, suffix = ""): FormatError {
    const { path, cut } = this.shards[file]!;
    return cutError(path, this.countIn(file), cut!, suffix);
  }

  /** Returns the number of sound records of a file. */
  countIn(file: number): number {
    return this.firsts[file + 1]! - this.firsts[file]!;
  }

  /** Notes on what cannot be read. */
  notes(suffix = ""): ArchiveNotes[] {
    const cut = this.cutFiles.map((file) =>
      unreadableNotes(
        this.shards[file]!.path,
        [file],
        (file) => this.cutError(file, suffix),
      )
    );
    return [...lostNotes(this.lost), ...cut];
  }
}
