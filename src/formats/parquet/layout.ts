/**
 * How Parquet lies in a file (parquet.apache.org/docs/file-format): `PAR1`, pages of column chunks, the footer, which is a
 * message of Thrift, its length, and `PAR1` again.
 *
 * @module
 */

/** What a file begins and ends with. */
export const MAGIC = 0x31524150;
/** What one ends with whose footer is encrypted. */
export const ENCRYPTED_MAGIC = 0x45524150;

/** Bytes of the magic number, and of what stands behind the footer. */
export const MAGIC_SIZE = 4;
export const TAIL_SIZE = 8;

/** Largest footer that is read. */
export const LARGEST_FOOTER = 64 << 20;
/** Bytes of a page that is read: as it is stored, and as it is decompressed. */
export const LARGEST_PAGE = 512 << 20;
/** Values that a page or a dictionary may have. */
export const MOST_VALUES = 1 << 24;
/** Values that a page of lists may have, whose encoding tells where each of them is. */
export const MOST_LISTED = 3 << 24;
/** Values of lists that are decoded together. */
export const MOST_TOGETHER = 1 << 19;
/** How deep columns may be nested. */
export const DEEPEST = 32;

/** How pages are compressed, by their numbers in a footer. */
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

/** How pages are compressed. */
export type Codec = typeof CODECS[number];

/** `x.parquet`, but none of those that tools hide or keep for themselves, as `_metadata` and `._x.parquet`. */
const NAMED = /^[^._][^/]*\.(?:parquet|parq)$/i;

/** Whether a file's name says that it is of this format. */
export function isNamedSo(name: string): boolean {
  return NAMED.test(name);
}
