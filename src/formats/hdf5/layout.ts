/**
 * HDF5 (HDF5 File Format Specification 3.0, support.hdfgroup.org): a superblock at byte 0, 512, 1,024 or a further power
 * of two, which begins with the signature, and objects at any addresses.
 *
 * @module
 */

/** Format signature (II.A, "Disk Format: Level 0A"). */
export const SIGNATURE = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];
/** Where superblocks are looked for; users' own headers are rarely larger. */
export const STARTS = [0, 512, 1024, 2048, 4096, 8192];

/** Classes of types (`H5T_class_t`). */
export const TypeClass = {
  INTEGER: 0,
  FLOAT: 1,
  STRING: 3,
  BITFIELD: 4,
  OPAQUE: 5,
  COMPOUND: 6,
  REFERENCE: 7,
  ENUM: 8,
  VLEN: 9,
  ARRAY: 10,
} as const;

/** Filters of chunks that are supported (`H5Z_FILTER_*`; HDF Group, "Registered Filter Plugins"). */
export const FilterId = {
  DEFLATE: 1,
  SHUFFLE: 2,
  FLETCHER_32: 3,
  N_BIT: 5,
  SCALE_OFFSET: 6,
  LZF: 32000,
  BLOSC: 32001,
  LZ4: 32004,
  ZSTD: 32015,
} as const;
/** Names of other filters. */
export const FILTER_NAMES: ReadonlyMap<number, string> = new Map([
  [4, "szip"],
  [307, "bzip2"],
  [32008, "bitshuffle"],
  [32013, "zfp"],
  [32026, "blosc2"],
]);

/** Suffixes of files. */
export const SUFFIX = /\.(h5|hdf5)$/i;

/** Whether a file is of HDF5, by its name. */
export function isNamedSo(name: string): boolean {
  return SUFFIX.test(name);
}
