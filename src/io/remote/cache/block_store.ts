import type { ObjectCounter } from "./object_counts.ts";

/**
 * Bytes of a block: what is kept and counted at a time. A sample begins and ends within blocks: were these larger, more
 * would be fetched with each that is read alone.
 */
export const BLOCK = 1 << 13;

/** What is known of a block, in the bytes of a {@linkcode BlockMap}. */
export const Known = {
  Absent: 0,
  /** Was there when the object was opened, and the machine has been started since it was written. */
  Unsure: 1,
  Present: 2,
  /** Is there, and who reads it is to tell, so that more is fetched ahead. */
  Marked: 3,
} as const;

/** A file whose present blocks any thread may read. */
export interface BlockMap {
  readonly path: string;
  /** What tells the file from another one that has taken its path. */
  readonly device: number;
  readonly inode: number;
  /** One of {@linkcode Known} for each block, in memory that threads share. */
  readonly known: Uint8Array<SharedArrayBuffer>;
  /** Who reads from it adds one for each read whose bytes were there. */
  readonly hits: Uint32Array<SharedArrayBuffer>;
}

/** Where fetched blocks of one object are kept. */
export interface BlockStore {
  /** Its file, where it has one. What is present stays so for as long as the object is open. */
  readonly map: BlockMap | undefined;
  /** Counts what is done with it, where that is kept. */
  readonly counts: ObjectCounter | undefined;
  /** Whether a block is there, as far as is known; {@linkcode BlockStore.look} tells more. */
  has(block: number): boolean;
  /** Looks which blocks others have kept meanwhile. */
  look(first: number, last: number): void;
  /** Returns when any program last kept a block, in milliseconds since 1970; 0 if that is unknown. */
  lastKept(): number;
  /**
   * Reads what is there.
   *
   * @returns How many bytes were read: up to the first block that is not there, or has turned out to be damaged.
   */
  read(into: Uint8Array, offset: number): number;
  /** {@linkcode BlockStore.read} of what needs no waiting for a disk. */
  readCached(into: Uint8Array, offset: number): number;
  /**
   * Reads what is all there, and waits for the disk if it has to.
   *
   * @returns Whether it could be read: otherwise it is not there any more.
   */
  readLater(into: Uint8Array, offset: number): Promise<boolean>;
  /**
   * Keeps blocks that lie one behind the other, or not: where there is no room, they are fetched again.
   *
   * @param bytes Of whole blocks, but for the object's last one.
   * @returns How many bytes were kept: whole blocks, but for the last one.
   */
  keep(first: number, bytes: Uint8Array): number;
  /** Invalidates blocks, so that the next read fetches them. */
  invalidate(first: number, last: number): void;
  /** Has whoever reads a block by the {@linkcode BlockMap} tell. */
  mark(block: number): void;
  close(): void;
}

/** Keeps nothing. */
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

/** The block that a byte is in. */
export function blockOf(offset: number): number {
  return Math.floor(offset / BLOCK);
}

/** Whether something holds of all blocks that a part is in. */
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
