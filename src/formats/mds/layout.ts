export const WORD = 4;
/** The only existing version. */
export const VERSION = 2;
export const FORMAT = "mds";
export const INDEX = "index.json";
/** Largest shard in bytes: offsets have 32 bits. */
export const LARGEST_SHARD = 2 ** 32 - 1;

/** `shard.00042.mds`, plus a suffix if compressed. */
const SHARD = /\.mds(?:\.(br|bz2|gz|snappy|zstd))?$/;

export function isShard(name: string): boolean {
  return SHARD.test(name);
}

export function compressionOf(name: string): string | undefined {
  return SHARD.exec(name)?.[1];
}

/** Returns the offset of a shard's configuration, which follows the number of samples and the samples + 1 offsets. */
export function tableSize(samples: number): number {
  return WORD * (samples + 2);
}

export function shardName(shard: number): string {
  return `shard.${String(shard).padStart(5, "0")}.mds`;
}
