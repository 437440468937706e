/** Simulated LRU cache of files, to compute the misses of other programs' caches. */
export class LruFiles {
  readonly #files: number;
  readonly #room: number;
  readonly #kept = new Set<number>(); // in order of use

  constructor(files: number, room: number) {
    this.#files = files;
    this.#room = room;
  }

  /** Returns the share of misses over all epochs but the first, each shuffled by its seed. */
  missesOf(seeds: readonly number[]): number {
    let missed = 0;
    for (const [epoch, seed] of seeds.entries()) {
      for (const file of shuffled(this.#files, seed)) {
        if (this.#use(file) || epoch === 0) continue;
        missed++;
      }
    }
    return missed / this.#files / (seeds.length - 1);
  }

  #use(file: number): boolean {
    const isKept = this.#kept.delete(file);
    this.#kept.add(file);
    if (this.#kept.size <= this.#room) return isKept;
    const [oldest] = this.#kept;
    this.#kept.delete(oldest!);
    return isKept;
  }
}

/** Returns an order shuffled by a 32-bit xorshift generator. */
function shuffled(count: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let state = Math.imul(seed, 0x9e3779b9) | 1;
  for (let i = count - 1; i > 0; i--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}
