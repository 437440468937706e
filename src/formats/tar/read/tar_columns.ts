import {
  DIRECTORY_BIT,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";

/** What is known of a tar: tables over memory that threads share. */
export interface TarColumns {
  readonly names: NameTableColumns;
  /**
   * Per record, which is a file or a link, in the order of the tar: where its content begins; of a link, where in
   * the names its path stands.
   */
  readonly offsets: Float64Array;
  /** Per record: bytes of its content; of a link, -1 less the bytes of its path. */
  readonly sizes: Float64Array;
  /** Per record: its node. */
  readonly nodes: Uint32Array;
  /** Per node: its time in milliseconds since 1970, or NaN where the tar has none. */
  readonly times: Float64Array;
  /** The records that are symbolic links, ascending. */
  readonly links: Uint32Array;
  /** Per link: the node that it leads to at the end, or 0. */
  readonly targets: Uint32Array;
  /** The records of all samples, sample by sample; none where the files are the samples. */
  readonly sampleRecords: Uint32Array;
  /** Per sample, and once more: where its records start. */
  readonly sampleStarts: Uint32Array;
}

/** A tar's tables, and what else opening it has told. */
export interface TarIndex {
  readonly columns: TarColumns;
  /** What was left out, and what else is odd, as sentences; not more of them than are read. */
  readonly warnings: readonly string[];
  /** How many members were left out. */
  readonly leftOut: number;
}

/** Number of files, and of links to files. */
export function fileCount(
  { names, nodes, links, targets }: TarColumns,
): number {
  const isFile = (node: number) =>
    node !== 0 && names.refs[node - 1]! < DIRECTORY_BIT;
  const leading = targets.reduce(
    (sum, node) => isFile(node) ? sum + 1 : sum,
    0,
  );
  return nodes.length - links.length + leading;
}

/** Whether files are gathered to samples by their names. */
export function isWebDataset({ sampleStarts }: TarColumns): boolean {
  return sampleStarts.length > 1;
}

/** Number of samples: files, where these are not gathered. */
export function sampleCount(columns: TarColumns): number {
  return isWebDataset(columns)
    ? columns.sampleStarts.length - 1
    : columns.offsets.length;
}

/** Whether all contents lie in the file: of tables that were kept, nothing is believed. */
export function areInside(
  { offsets, sizes, names }: TarColumns,
  size: number,
): boolean {
  return offsets.every((start, record) => {
    const length = sizes[record]!;
    return length < 0
      ? start - length - 1 <= names.names.length
      : start >= 0 && start + length <= size;
  });
}
