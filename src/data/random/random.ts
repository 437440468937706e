/**
 * Random numbers that follow from whole numbers: the same keys give the same numbers on every machine.
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand), its state mixed from the keys.
 */
export class Random {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c = 0xb7e15162;
  #counter = 1;

  /** @param keys Safe integers, such as a seed, an epoch and an index. */
  constructor(...keys: number[]) {
    for (const key of keys) {
      this.#absorb(key >>> 0);
      this.#absorb(Math.floor(key / 0x1_0000_0000) >>> 0);
    }
    for (let round = 0; round < 12; round++) this.uint32();
  }

  #absorb(word: number): void {
    this.#a = (this.#a ^ word) | 0;
    for (let round = 0; round < 4; round++) this.uint32();
  }

  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21 | this.#c >>> 11) + sum) | 0;
    return sum >>> 0;
  }

  /** A number in [0, 1), of 53 random bits. */
  float(): number {
    const high = this.uint32() >>> 5;
    return (high * 0x400_0000 + (this.uint32() >>> 6)) / 0x20_0000_0000_0000;
  }

  /** A whole number from 0 to `below - 1`, each as likely; `below` is from 1 to 2^53. */
  int(below: number): number {
    if (below > 0x1_0000_0000) return Math.floor(this.float() * below);
    // Lemire's method: numbers that would favour some results are drawn again.
    const least = (0x1_0000_0000 - below) % below;
    for (;;) {
      const product = this.uint32() * below;
      // The product has up to 64 bits; its high half is exact enough only below 2^53.
      if (below <= 0x20_0000) {
        if (product % 0x1_0000_0000 >= least) {
          return Math.floor(product / 0x1_0000_0000);
        }
      } else {
        return Math.floor(this.float() * below);
      }
    }
  }
}
