import type { ObjectCounter } from "./object_counts.ts";

/**
 * Block size in bytes: the unit of storing and counting. Samples begin and end within blocks, so with larger blocks,
 * more would be fetched for each sample that is read alone.
 */
export const CACHE_BLOCK = 1 << 13;

export const Known = {
  Absent: 0,
  /** Was present when the object was opened, but the machine has restarted since it was written. */
  Unsure: 1,
  Present: 2,
  /** Present, and its reader must report the read, so that more is prefetched. */
  Marked: 3,
} as const;

/** A file whose present blocks any thread may read. */
export interface BlockMap {
  readonly path: string;
  /** With the inode, identifies the file if another one takes its path. */
  readonly device: number;
  readonly inode: number;
  /** One of {@linkcode Known} for each block, in memory that threads share. */
  readonly known: Uint8Array<SharedArrayBuffer>;
  /** Readers add one for each read that hit the cache. */
  readonly hits: Uint32Array<SharedArrayBuffer>;
}

export interface BlockStore {
  /** The store's file, if any. Present blocks stay present while the object is open. */
  readonly map: BlockMap | undefined;
  readonly counts: ObjectCounter | undefined;
  /** Whether a block is present, as far as known; {@linkcode BlockStore.look} updates that. */
  has(block: number): boolean;
  /** Checks which blocks others have stored meanwhile. */
  look(first: number, last: number): void;
  /** Returns when any program last stored a block, in milliseconds since 1970; 0 if unknown. */
  lastKept(): number;
  /** Reads up to the first block that is missing or turns out to be damaged. Returns the number of bytes read. */
  read(into: Uint8Array, offset: number): number;
  /** {@linkcode BlockStore.read} of what can be read without waiting for a disk. */
  readCached(into: Uint8Array, offset: number): number;
  /** Reads a range that is present, waiting for the disk if needed. Returns `false` if it is no longer present. */
  readLater(into: Uint8Array, offset: number): Promise<boolean>;
  /**
   * Stores consecutive whole blocks; only the object's last one may be shorter. Returns the number of bytes stored.
   * Blocks without space are not stored and will be fetched again.
   */
  keep(first: number, bytes: Uint8Array): number;
  invalidate(first: number, last: number): void;
  /** Makes readers of a block through the {@linkcode BlockMap} report the read. */
  mark(block: number): void;
  close(): void;
}

export const NO_STORE: BlockStore = {
  map: undefined,
  counts: undefined,
  has: () => false,
  look() {},
  lastKept: () => 0,
  read: () => 0,
  readCached: () => 0,
  readLater: () => Promise.resolve(false),
  keep: () => 0,
  invalidate() {},
  mark() {},
  close() {},
};

export function blockOf(offset: number): number {
  return Math.floor(offset / CACHE_BLOCK);
}

/** Whether a condition holds for all blocks of a range. */
export function areAllBlocks(
  offset: number,
  length: number,
  holds: (block: number) => boolean,
): boolean {
  const last = blockOf(offset + length - 1);
  for (let block = blockOf(offset); block <= last; block++) {
    if (!holds(block)) return false;
  }
  return true;
}
