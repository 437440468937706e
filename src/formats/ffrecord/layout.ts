/**
 * Layout of an `.ffr` file (FFRecord's README, "Storage Layout"; all little-endian):
 *
 *     0      u32     CRC-32 of N and the tables; 0 in files of an old version
 *     4      i64     N, the number of samples
 *     12     u32 × N CRC-32 of each sample
 *     12+4N  i64 × N byte offset of each sample; the last sample ends at the end of the file
 *
 * @module
 */

/** Bytes before the tables. */
export const FIXED_HEADER = 12;
/** Bytes per sample in the tables. */
export const BYTES_PER_SAMPLE = 12;

/** Returns the end of the tables, the lowest offset of a sample. */
export function endOfHeader(count: number): number {
  return FIXED_HEADER + BYTES_PER_SAMPLE * count;
}

/** Parses the number of samples in the fixed header; unchecked, any number if damaged. */
export function parseCount(header: DataView): number {
  const low = header.getUint32(4, true);
  const high = header.getInt32(8, true);
  return high * 2 ** 32 + low;
}
