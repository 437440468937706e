import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { sumLike } from "../../../io/sums/content_sum.ts";
import { crc32cLoaded } from "../../../io/sums/crc32c.ts";
import type { MappedSources } from "../../../io/read/mapped_sources.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import type {
  ByteSource,
  SourceList,
} from "../../../io/storage/byte_source.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import {
  openSources,
  reopenSources,
} from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  type ArchiveNotes,
  unreadableNotes,
} from "../../../tree/archive/archive_notes.ts";
import { expectContents, readContents } from "../../../tree/read_contents.ts";
import { lastUpTo, sharedFloat64 } from "../../../tree/shared_numbers.ts";
import { type Extent, newExtent } from "../../../tree/tree.ts";
import type { RecordKind } from "../kinds.ts";
import { cutError } from "./cut.ts";
import { type IndexOptions, openIndex } from "./open_index.ts";
import { locateRecord, type RecordIndex } from "./record_columns.ts";

/** A file, as another thread opens it again. */
interface SharedFile extends RecordIndex, KnownFile {}

/** Files for another thread: their tables are in memory that threads share. */
export type FilesHandle = readonly SharedFile[];

/** Records of one file or of several, numbered from 0 over all of them. */
export class RecordTable {
  /** The files' tables. */
  readonly files: FilesHandle;
  /** Per file, and once more for all: the number of its first record. */
  readonly firsts: Float64Array;

  constructor(files: FilesHandle) {
    this.files = files;
    this.firsts = sharedFloat64(files.length + 1);
    for (const [i, { columns }] of files.entries()) {
      this.firsts[i + 1] = this.firsts[i]! + columns.sums.length;
    }
  }

  /** Number of records that are whole. */
  get length(): number {
    return this.firsts.at(-1)!;
  }

  /** The files that end in a damaged record, by their numbers. */
  get cutFiles(): readonly number[] {
    return this.files.flatMap(({ cut }, file) =>
      cut === undefined ? [] : [file]
    );
  }

  /**
   * The error for the damaged record that a file ends in.
   *
   * @param suffix Ending of the names of records.
   */
  cutError(file: number, suffix = ""): FormatError {
    const { path, cut, columns } = this.files[file]!;
    return cutError(path, columns.sums.length, cut!, suffix);
  }

  /** What of the files cannot be read. */
  notes(suffix = ""): ArchiveNotes[] {
    return this.cutFiles.map((file) =>
      unreadableNotes(
        this.files[file]!.path,
        [file],
        (file) => this.cutError(file, suffix),
      )
    );
  }

  /** What all records seem to be, by the first one of each file that has any. */
  get kind(): RecordKind {
    const kinds = new Set(
      this.files.filter(({ columns }) => columns.sums.length > 0)
        .map(({ kind }) => kind),
    );
    const [kind = "records"] = kinds;
    return kinds.size > 1 ? "records" : kind;
  }

  /** Number of the file that a record is in. */
  fileOf(record: number): number {
    return lastUpTo(this.firsts, record, this.files.length);
  }

  /** Number of a record in its file. */
  numberOf(record: number): number {
    return record - this.firsts[this.fileOf(record)]!;
  }

  /** Says where the data of a record is. */
  locate(record: number, into: Extent): void {
    const file = this.fileOf(record);
    const { columns } = this.files[file]!;
    locateRecord(columns, record - this.firsts[file]!, file, into);
  }

  /** The error for a record whose checksum is not the recorded one. */
  mismatch(record: number, expected: number, actual: number): FormatError {
    const { path } = this.files[this.fileOf(record)]!;
    return new FormatError(
      "sample-checksum",
      `${path}: checksum mismatch in record ${
        this.numberOf(record)
      }: its bytes are not those that were written; fetch the file again, or read it as it is with the option ` +
        "`checkData: false`",
      { path, sample: record, expected: expected >>> 0, actual: actual >>> 0 },
    );
  }
}

/** Opened files, and their records. */
export interface RecordFiles {
  readonly sources: readonly ByteSource[];
  readonly table: RecordTable;
}

/**
 * Opens files, in their order; all are closed if one can't be.
 *
 * @throws {FormatError} If one is compressed, or its first length is wrong; or if no record of any is whole.
 */
export function* openFiles(
  paths: readonly string[],
  storage: Storage,
  options: IndexOptions,
): Steps<RecordFiles> {
  const files: SharedFile[] = [];
  const sources = yield* openSources(storage, paths, function* (source, at) {
    const index = yield* openIndex(source, options);
    const { name, size, mtime } = source;
    files[at] = { ...index, path: name, size, mtime };
  });
  const table = new RecordTable(files);
  const [cut] = table.cutFiles;
  if (cut !== undefined && table.length === 0) {
    for (const source of sources) source.close();
    throw noneWhole(files[cut]!);
  }
  return { sources, table };
}

function noneWhole({ path, cut }: SharedFile): FormatError {
  const { code, why, ...facts } = cut!;
  const message = `${path} has no whole record: ${why}`;
  return new FormatError(code, message, { ...facts, path, sample: 0 });
}

/**
 * Opens files that another thread has opened, over its tables.
 *
 * @param check Whether records will be compared with their checksums.
 * @throws {FormatError} If one is not the same any more.
 */
export function* reopenFiles(
  files: FilesHandle,
  storage: Storage,
  check: boolean,
): Steps<RecordFiles> {
  if (check) yield* crc32cLoaded();
  const sources = yield* reopenSources(storage, files);
  return { sources, table: new RecordTable(files) };
}

/** Reads records, each compared with its checksum if `check` is set. */
export function readRecords(
  { sources, table }: Pick<RecordFiles, "table"> & {
    readonly sources: SourceList;
  },
  records: readonly number[],
  check: boolean,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  return readContents({
    sources,
    length: records.length,
    locate: (i, into) => table.locate(records[i]!, into),
    mismatch: check
      ? (i, expected, actual) => table.mismatch(records[i]!, expected, actual)
      : undefined,
  }, memory);
}

/** Says that records will be read soon: what lies on servers is fetched. */
export function expectRecords(
  { sources, table }: RecordFiles,
  records: readonly number[],
): number {
  return expectContents({
    sources,
    length: records.length,
    locate: (i, into) => table.locate(records[i]!, into),
  });
}

/** Views of records into maps of their files, in the order of `records`. */
export function viewRecords(
  mapped: MappedSources,
  { table }: RecordFiles,
  records: readonly number[],
  check: boolean,
): Uint8Array<ArrayBuffer>[] {
  const viewOf = mapped.batch(check);
  const extent = newExtent();
  return records.map((record) => {
    table.locate(record, extent);
    const { source, offset, length, crc32 } = extent;
    const view = viewOf(source, offset, length);
    if (!check) return view;
    const crc = sumLike(crc32)(view);
    if (crc !== crc32) throw table.mismatch(record, crc32, crc);
    return view;
  });
}
