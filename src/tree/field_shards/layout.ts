/** Layout of a shard: the number of samples, samples + 1 offsets, and the samples, behind what a format puts first. */

/** Bytes of a number. */
export const WORD = 4;
/** Largest shard in bytes: offsets have 32 bits. */
export const LARGEST_SHARD = 2 ** 32 - 1;

/** Returns the offset of what follows a shard's table: the number of samples, and the samples + 1 offsets. */
export function tableSize(samples: number): number {
  return WORD * (samples + 2);
}
