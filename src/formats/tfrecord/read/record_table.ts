import { FormatError } from "../../../base/errors.ts";
import { optionText, UNCHECKED } from "../../../base/named_option.ts";
import {
  type RecordFile,
  RecordTable,
} from "../../../tree/records/record_table.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import type { Extent } from "../../../tree/tree.ts";
import type { RecordKind } from "../kinds.ts";
import { isNone, noneError } from "./cut.ts";
import { locateRecord, type RecordIndex } from "./record_columns.ts";

/** A file for other threads, with its tables in shared memory. */
export interface TFRecordFile extends RecordIndex, RecordFile {}

/** Records of one or several files, numbered from 0 across files. */
export class TFRecordTable extends RecordTable<TFRecordFile> {
  constructor(
    files: readonly TFRecordFile[],
    lost: readonly LostShard[] = [],
  ) {
    super(files, ({ columns }) => columns.sums.length, lost);
  }

  override cutError(file: number, suffix = ""): FormatError {
    const { path, cut } = this.shards[file]!;
    return isNone(cut!) ? noneError(path) : super.cutError(file, suffix);
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

  locateIn(file: number, number: number, into: Extent): void {
    locateRecord(this.shards[file]!.columns, number, file, into);
  }

  override mismatch(
    record: number,
    expected: number,
    actual: number,
  ): FormatError {
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
