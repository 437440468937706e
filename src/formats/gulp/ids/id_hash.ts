/** Tells whether the id of a row is `bytes[start … end]`. */
type SameId = (
  row: number,
  bytes: Uint8Array,
  start: number,
  end: number,
) => boolean;

/** Different in each process, so that no file can be made whose ids all collide. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0]!;

/**
 * Finds the row of an id: an open-addressing hash table of row numbers, in two typed arrays. The ids
 * themselves lie elsewhere.
 */
export class IdHash {
  readonly #same: SameId;
  #hashes: Int32Array;
  /** Row + 1, or 0 where the slot is free. */
  #rows: Uint32Array;
  #count = 0;

  /** @param same Compares with the id of a row that was added. */
  constructor(same: SameId) {
    this.#same = same;
    this.#hashes = new Int32Array(64);
    this.#rows = new Uint32Array(64);
  }

  /** The row whose id is `bytes[start … end]`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const mask = this.#rows.length - 1;
    for (let slot = hash & mask;; slot = slot + 1 & mask) {
      const row = this.#rows[slot]! - 1;
      if (row < 0) return -1;
      if (this.#hashes[slot] !== hash) continue;
      if (this.#same(row, bytes, start, end)) return row;
    }
  }

  /** Adds the row of an id that is not there yet. */
  add(bytes: Uint8Array, start: number, end: number, row: number): void {
    if (++this.#count * 2 > this.#rows.length) this.#grow();
    this.#put(hashOf(bytes, start, end), row + 1);
  }

  #put(hash: number, entry: number): void {
    const mask = this.#rows.length - 1;
    let slot = hash & mask;
    while (this.#rows[slot] !== 0) slot = slot + 1 & mask;
    this.#hashes[slot] = hash;
    this.#rows[slot] = entry;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const rows = this.#rows;
    this.#hashes = new Int32Array(rows.length * 2);
    this.#rows = new Uint32Array(rows.length * 2);
    for (let slot = 0; slot < rows.length; slot++) {
      const entry = rows[slot]!;
      if (entry > 0) this.#put(hashes[slot]!, entry);
    }
  }
}

/** MurmurHash2's steps, a byte at a time. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ hash >>> 13, 0x5bd1e995);
  return hash ^ hash >>> 15;
}

/** Whether two runs of bytes are the same. */
export function sameBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = 0; i < aEnd - aStart; i++) {
    if (a[aStart + i] !== b[bStart + i]) return false;
  }
  return true;
}
