/** Bytes of a whole number in a shard. */
export const WORD = 4;
/** The only version there is. */
export const VERSION = 2;
/** What the index calls the format. */
export const FORMAT = "mds";
/** The name of the index. */
export const INDEX = "index.json";
/** Offsets have 32 bits. */
export const LARGEST_SHARD = 2 ** 32 - 1;

/** `shard.00042.mds`, and what may stand behind it where it is compressed. */
const SHARD = /\.mds(?:\.(br|bz2|gz|snappy|zstd))?$/;

/** Whether a file is named as a shard, compressed or not. */
export function isShard(name: string): boolean {
  return SHARD.test(name);
}

/** How a file is compressed, as its name says. */
export function compressionOf(name: string): string | undefined {
  return SHARD.exec(name)?.[1];
}

/** Where a shard's configuration starts: behind its number of samples, and where each starts and the last one ends. */
export function tableSize(samples: number): number {
  return WORD * (samples + 2);
}

/** Name of a shard that is written. */
export function shardName(shard: number): string {
  return `shard.${String(shard).padStart(5, "0")}.mds`;
}
