/**
 * The layout of an `.ffr` file (FFRecord's README, "Storage Layout"; all little-endian):
 *
 *     0      u32     CRC-32 of all that follows up to the samples; 0 in files of an old version
 *     4      i64     N, the number of samples
 *     12     u32 × N CRC-32 of each sample
 *     12+4N  i64 × N byte offset of each sample; the last sample ends where the file does
 *
 * @module
 */

/** Bytes before the tables. */
export const FIXED_HEADER = 12;
/** Bytes of the tables for each sample. */
export const BYTES_PER_SAMPLE = 12;

/** Where the first sample may start: behind the tables. */
export function endOfHeader(count: number): number {
  return FIXED_HEADER + BYTES_PER_SAMPLE * count;
}

/** A count of samples as the fixed header has it; damage makes it anything. */
export function parseCount(header: DataView): number {
  const low = header.getUint32(4, true);
  const high = header.getInt32(8, true);
  return high * 2 ** 32 + low;
}
