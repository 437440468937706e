/**
 * HDF5 (HDF5 File Format Specification 3.0, support.hdfgroup.org): a superblock at byte 0, 512, 1,024 or a further power
 * of two, which begins with the signature. The library reads all else.
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

/** Types of objects (`H5G_obj_t`). */
export const ObjectType = { GROUP: 0, DATASET: 1 } as const;

/** Filters of chunks that the library has (`H5Z_FILTER_*`): deflate, shuffle, Fletcher-32, N-bit, scale and offset. */
export const FILTERS: ReadonlySet<number> = new Set([1, 2, 3, 5, 6]);
/** Names of other filters (HDF Group, "Registered Filter Plugins"). */
export const FILTER_NAMES: ReadonlyMap<number, string> = new Map([
  [4, "szip"],
  [307, "bzip2"],
  [32000, "lzf"],
  [32001, "blosc"],
  [32004, "lz4"],
  [32008, "bitshuffle"],
  [32013, "zfp"],
  [32015, "zstd"],
  [32026, "blosc2"],
]);

/** Whether a file is of HDF5, by its name. */
export function isNamedSo(name: string): boolean {
  return /\.(h5|hdf5)$/i.test(name);
}
