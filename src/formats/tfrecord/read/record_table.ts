import { FormatError } from "../../../base/errors.ts";
import { optionText, UNCHECKED } from "../../../base/named_option.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import {
  type ArchiveNotes,
  unreadableNotes,
} from "../../../tree/archive/archive_notes.ts";
import {
  lostNotes,
  type LostShard,
} from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Extent } from "../../../tree/tree.ts";
import type { RecordKind } from "../kinds.ts";
import { cutError } from "./cut.ts";
import { locateRecord, type RecordIndex } from "./record_columns.ts";

/** A file for other threads, with its tables in shared memory. */
export interface RecordFile extends RecordIndex, KnownFile {}

/** Records of one or several files, numbered from 0 across files. */
export class RecordTable extends ShardTable<RecordFile> {
  constructor(
    files: readonly RecordFile[],
    lost: readonly LostShard[] = [],
  ) {
    super(files, ({ columns }) => columns.sums.length, lost);
  }

  /** Numbers of the files that end in a damaged record. */
  get cutFiles(): readonly number[] {
    return this.shards.flatMap(({ cut }, file) =>
      cut === undefined ? [] : [file]
    );
  }

  /** Makes the error for the damaged record at the end of a file; `suffix` is that of record names. */
  cutError(file: number, suffix = ""): FormatError {
    const { path, cut, columns } = this.shards[file]!;
    return cutError(path, columns.sums.length, cut!, suffix);
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

  /** Kind of all records, by the first one of each file that has any. */
  get kind(): RecordKind {
    const kinds = new Set(
      this.shards.filter(({ columns }) => columns.sums.length > 0)
        .map(({ kind }) => kind),
    );
    const [kind = "records"] = kinds;
    return kinds.size > 1 ? "records" : kind;
  }

  locate(record: number, into: Extent): void {
    const file = this.shardOf(record);
    const { columns } = this.shards[file]!;
    locateRecord(columns, record - this.firsts[file]!, file, into);
  }

  mismatch(record: number, expected: number, actual: number): FormatError {
    const { path } = this.of(record);
    return new FormatError(
      "sample-checksum",
      `Cannot read record ${this.numberOf(record)} of ${path}: checksum ` +
        "mismatch: the file is damaged. Download it again, or read it unchecked with " +
        optionText(UNCHECKED),
      { path, sample: record, expected, actual, namedOptions: [UNCHECKED] },
    );
  }
}
