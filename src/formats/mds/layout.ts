/** The only existing version. */
export const VERSION = 2;
export const FORMAT = "mds";
export const INDEX = "index.json";

/** `shard.00042.mds`, plus a suffix if compressed. */
const SHARD = /\.mds(?:\.(br|bz2|gz|snappy|zstd))?$/;

export function isShard(name: string): boolean {
  return SHARD.test(name);
}

export function compressionOf(name: string): string | undefined {
  return SHARD.exec(name)?.[1];
}

export function shardName(shard: number): string {
  return `shard.${String(shard).padStart(5, "0")}.mds`;
}
