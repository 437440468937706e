import type { ObjectCounter } from "./object_counts.ts";

/**
 * Block size in bytes: the unit of storing and counting. Samples begin and end within blocks, so with larger blocks,
 * more would be fetched for each sample that is read alone.
 */
export const BLOCK = 1 << 13;

/** State of a block in a {@linkcode BlockMap}. */
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

/** Storage for fetched blocks of one object. */
export interface BlockStore {
  /** The store's file, if any. Present blocks stay present while the object is open. */
  readonly map: BlockMap | undefined;
  /** Counts operations, if supported. */
  readonly counts: ObjectCounter | undefined;
  /** Whether a block is present, as far as known; {@linkcode BlockStore.look} updates that. */
  has(block: number): boolean;
  /** Checks which blocks others have stored meanwhile. */
  look(first: number, last: number): void;
  /** Returns when any program last stored a block, in milliseconds since 1970; 0 if unknown. */
  lastKept(): number;
  /**
   * Reads what is present.
   *
   * @returns Number of bytes read: up to the first block that is missing, or turned out to be damaged.
   */
  read(into: Uint8Array, offset: number): number;
  /** {@linkcode BlockStore.read} of what can be read without waiting for a disk. */
  readCached(into: Uint8Array, offset: number): number;
  /**
   * Reads a range that is present as a whole, waiting for the disk if needed.
   *
   * @returns Whether it was read; if not, it is no longer present.
   */
  readLater(into: Uint8Array, offset: number): Promise<boolean>;
  /**
   * Stores consecutive blocks. If there is no space, they are not stored and will be fetched again.
   *
   * @param bytes Whole blocks, except for the object's last one.
   * @returns Number of bytes stored: whole blocks, except for the last one.
   */
  keep(first: number, bytes: Uint8Array): number;
  /** Invalidates blocks, so that the next read fetches them. */
  invalidate(first: number, last: number): void;
  /** Makes readers of a block through the {@linkcode BlockMap} report the read. */
  mark(block: number): void;
  close(): void;
}

/** Stores nothing. */
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

/** Returns the block that contains a byte. */
export function blockOf(offset: number): number {
  return Math.floor(offset / BLOCK);
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
