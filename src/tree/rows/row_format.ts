import type { FormatError } from "../../base/errors.ts";
import type { CellField } from "../../codecs/cells/cell_field.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ShardPaths } from "../../io/storage/shards/shard_paths.ts";
import type { ContainerOptions } from "../format.ts";
import type { KnownFile } from "../../io/storage/changed_file.ts";

/** File of rows: plain data, with which another thread reopens it. */
export interface RowFile extends KnownFile {
  readonly columns: readonly CellField[];
  /** Per group of rows that are stored together, plus one for all: index of its first row. */
  readonly firsts: Float64Array;
  /** Per column: suffix of its cells' filenames, if the file's tables tell it. */
  readonly suffixes: readonly (string | undefined)[];
  /** Why rows at its end are missing. */
  readonly damage?: Pick<FormatError, "code" | "message"> | undefined;
}

/** Files of a location. */
export interface RowPaths extends ShardPaths {
  /** Directories of the files, each with those of its shards: in order, all files. */
  readonly splits?:
    | readonly { readonly name: string; readonly paths: readonly string[] }[]
    | undefined;
}

/** Returns the number of rows of a file. */
export function rowsOf({ firsts }: Pick<RowFile, "firsts">): number {
  return firsts.at(-1)!;
}

/** Stored values of a column's rows, which are decoded together. */
export interface DecodedRows {
  /** Index of the first row, in its file. */
  readonly first: number;
  readonly rows: { readonly length: number; at(index: number): unknown };
}

/** Location of a cell among those decoded with it. */
export interface CellPlace {
  /** Index of the column of a group of rows, over all files. */
  readonly column: number;
  /** Index of the rows decoded together, in their group. */
  readonly part: number;
  /** Index of the cell among them, and their number. */
  readonly index: number;
  readonly count: number;
}

/** Decodes the cells of files. Cells are decoded, and cached, together with their neighbours. */
export interface Cells {
  /** Returns the cached rows that contain a cell, if any. */
  kept(file: number, column: number, row: number): DecodedRows | undefined;
  /** Decodes the rows around a cell of a row in its file. Throws `FormatError` if they are damaged. */
  decode(file: number, column: number, row: number): Steps<DecodedRows>;
  /** Returns the location of a cell among those decoded with it. Throws `FormatError` if the column is damaged. */
  place(file: number, column: number, row: number): Steps<CellPlace>;
  /**
   * Returns the start rows of the parts of a group of rows that may be damaged independently of each other, from the
   * group's first row on, and the end of the last. Throws `FormatError` if the column is damaged.
   */
  partsOf(
    file: number,
    group: number,
    column: number,
  ): Steps<ArrayLike<number>>;
  /** Hints that a cell will be read soon. Returns the bytes that are being prefetched or cached. */
  prefetch(file: number, column: number, row: number): number;
}

/** What a format of rows brings: everything else is the same for all of them. */
export interface RowFormat<F extends RowFile> {
  /** Name of the format. */
  readonly name: string;
  /** Suffix of its files, which directories for them do not have. */
  readonly suffix: RegExp;
  /** URL of the module that exports `reopenTree` and `reopenSamples`, for other threads. */
  readonly module: string;
  /** Finds the files of a location: itself, those in a directory, or those that match a pattern. */
  paths(path: string, storage: Storage): Steps<RowPaths>;
  /**
   * Reads the tables of a file.
   *
   * @throws {FormatError} If it is damaged, or of a form that is not supported.
   */
  look(
    source: ByteSource,
    onWarning: (message: string) => void,
    options: ContainerOptions,
  ): Steps<Omit<F, keyof KnownFile>>;
  /** Loads the libraries without which cells cannot be decoded at once. */
  load(): Steps<unknown>;
  /** Returns the stored bytes of a column of a file. */
  bytesOf(file: F, column: number): number;
  /**
   * Makes a decoder of files' cells.
   *
   * @param open Returns the source of a file.
   * @param check Whether to verify checksums.
   * @param most Maximum bytes of decoded rows cached; 128 MiB by default.
   */
  cells(
    files: readonly F[],
    open: (file: number) => Steps<ByteSource>,
    check: boolean,
    most?: number,
  ): Cells;
}
