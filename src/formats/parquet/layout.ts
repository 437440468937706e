/**
 * Physical layout of Parquet files (parquet.apache.org/docs/file-format): `PAR1`, pages of column chunks, the footer (a
 * Thrift message), its length, and `PAR1` again.
 *
 * @module
 */

/** Magic number at the start and end of a file. */
export const MAGIC = 0x31524150;
/** Magic number at the end of a file with an encrypted footer. */
export const ENCRYPTED_MAGIC = 0x45524150;

/** Bytes of the magic number, and of the tail after the footer. */
export const MAGIC_SIZE = 4;
export const TAIL_SIZE = 8;

export const LARGEST_FOOTER = 64 << 20;
/** Maximum bytes of a page, both compressed and decompressed. */
export const LARGEST_PAGE = 512 << 20;
/** Maximum number of values of a page or dictionary. */
export const MOST_VALUES = 1 << 24;
/** Maximum number of values of a page of lists whose encoding allows random access. */
export const MOST_LISTED = 3 << 24;
/** Maximum number of list values decoded together. */
export const MOST_TOGETHER = 1 << 19;
/** Maximum nesting depth of columns. */
export const DEEPEST = 32;

/** Compression codecs by their numbers in a footer. */
export const CODECS = [
  "UNCOMPRESSED",
  "SNAPPY",
  "GZIP",
  "LZO",
  "BROTLI",
  "LZ4",
  "ZSTD",
  "LZ4_RAW",
] as const;

export type Codec = typeof CODECS[number];

/** `x.parquet`, but not hidden or tools' own files such as `._x.parquet` and `_metadata`. */
const NAMED = /^[^._][^/]*\.(?:parquet|parq)$/i;

/** Whether a filename is that of a Parquet file. */
export function isNamedSo(name: string): boolean {
  return NAMED.test(name);
}
