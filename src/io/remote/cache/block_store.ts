/** Bytes of a block: what is fetched, kept and counted at a time. */
export const BLOCK = 1 << 16;

/** Where fetched blocks of one object are kept. */
export interface BlockStore {
  /** Whether a block is there. */
  has(block: number): boolean;
  /**
   * Reads what is there.
   *
   * @returns How many bytes were read: up to the first block that is not there, or has turned out to be damaged.
   */
  read(into: Uint8Array, offset: number): number;
  /**
   * Keeps blocks that lie one behind the other, or not: where there is no room, they are fetched again.
   *
   * @param bytes Of whole blocks, but for the object's last one.
   */
  keep(first: number, bytes: Uint8Array): void;
  /** Forgets blocks, which are fetched again. */
  forget(first: number, last: number): void;
  close(): void;
}

/** The block that a byte is in. */
export function blockOf(offset: number): number {
  return Math.floor(offset / BLOCK);
}
