/** Shares of splits as exact fractions, so that rounding never adds or drops a sample. */
export class Ratios {
  /** Share of each split, as a part of {@linkcode Ratios.whole}. */
  readonly parts: readonly bigint[];
  /** Sum of the parts. */
  readonly whole: bigint;

  private constructor(parts: readonly bigint[]) {
    this.parts = parts;
    this.whole = parts.reduce((sum, part) => sum + part, 0n);
  }

  /**
   * Parses ratios such as `0.8,0.1,0.1`, which sum to 1, or `8,1,1`, which are proportions.
   *
   * @throws {RangeError} If they are neither, or one is 0.
   */
  static parse(text: string): Ratios {
    const words = text.split(",").map((word) => word.trim());
    const wrong = words.find((word) => !/^\d+(\.\d*)?$|^\.\d+$/.test(word));
    if (wrong !== undefined) {
      throw new RangeError(
        `Ratios must be numbers such as 0.8,0.1,0.1, not '${wrong}'`,
      );
    }
    const decimals = words.map((word) => word.split(".")[1]?.length ?? 0);
    const digits = Math.max(...decimals);
    const parts = words.map((word, i) =>
      BigInt(word.replace(".", "") + "0".repeat(digits - decimals[i]!))
    );
    const ratios = new Ratios(parts);
    if (parts.includes(0n)) {
      throw new RangeError(
        `The ratios ${text} must all be above 0`,
      );
    }
    const isProportion = words.every((word) => !word.includes("."));
    if (!isProportion && ratios.whole !== 10n ** BigInt(digits)) {
      throw new RangeError(
        `The ratios ${text} must sum to 1, not ` +
          `${Number(ratios.whole) / 10 ** digits} (whole numbers, such as ` +
          "8,1,1, may have any sum)",
      );
    }
    return ratios;
  }

  /** Number of splits. */
  get length(): number {
    return this.parts.length;
  }

  /** Returns each split's share of `count` samples, rounded down, and the remainder of that division. */
  shares(
    count: number,
  ): { readonly sizes: number[]; readonly rests: bigint[] } {
    const total = BigInt(count);
    const sizes = this.parts.map((part) => Number(total * part / this.whole));
    const rests = this.parts.map((part) => total * part % this.whole);
    return { sizes, rests };
  }

  /**
   * Returns how many of `count` samples each split gets: its share rounded down, plus one for the splits of the
   * largest remainders (the first of equal ones), until all are distributed.
   */
  sizes(count: number): number[] {
    const { sizes, rests } = this.shares(count);
    const left = count - sizes.reduce((sum, size) => sum + size, 0);
    const byRest = rests.map((_, i) => i).sort((a, b) =>
      compare(rests[b]!, rests[a]!) || a - b
    );
    for (const split of byRest.slice(0, left)) sizes[split]!++;
    return sizes;
  }
}

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
