import type { Histogram } from "./messages.ts";

/** Histogram of numbers from 0 on, with bin edges at 0, 1, 2, 4, 8 and so on. */
export class LogHistogram {
  readonly #counts: number[] = [];
  #total = 0;

  add(value: number): void {
    const bin = value < 1 ? 0 : Math.floor(Math.log2(value)) + 1;
    while (this.#counts.length <= bin) this.#counts.push(0);
    this.#counts[bin]!++;
    this.#total++;
  }

  get total(): number {
    return this.#total;
  }

  toMessage(): Histogram {
    const edges = [0, ...this.#counts.map((_, bin) => 2 ** bin)];
    return { edges, counts: [...this.#counts] };
  }
}

/** Counts of words and nulls. After `most` distinct ones, new ones are ignored. */
export class WordCounts {
  readonly #counts = new Map<string | null, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(word: string | null): void {
    const before = this.#counts.get(word);
    if (before === undefined && this.#counts.size >= this.#most) return;
    this.#counts.set(word, (before ?? 0) + 1);
  }

  get different(): number {
    return this.#counts.size;
  }

  /** Returns the most frequent words with their counts. Sorts only these. */
  top(most: number): [word: string | null, count: number][] {
    const all = [...this.#counts];
    if (all.length <= most) return all.sort(([, a], [, b]) => b - a);
    const counts = Float64Array.from(all, ([, count]) => count).sort();
    const least = counts[counts.length - most]!;
    const more = all.filter(([, count]) => count > least);
    for (const word of all) { // the first ones with the least count
      if (more.length === most) break;
      if (word[1] === least) more.push(word);
    }
    return more.sort(([, a], [, b]) => b - a);
  }
}
