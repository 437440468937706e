import type { Histogram } from "./messages.ts";

/** Counts of numbers from 0 on, in bins between 0, 1, 2, 4, 8 and so on. */
export class LogHistogram {
  readonly #counts: number[] = [];
  #total = 0;

  /** Counts a number. */
  add(value: number): void {
    const bin = value < 1 ? 0 : Math.floor(Math.log2(value)) + 1;
    while (this.#counts.length <= bin) this.#counts.push(0);
    this.#counts[bin]!++;
    this.#total++;
  }

  /** How many numbers were counted. */
  get total(): number {
    return this.#total;
  }

  /** The counts, with the edges of their bins. */
  toMessage(): Histogram {
    const edges = [0, ...this.#counts.map((_, bin) => 2 ** bin)];
    return { edges, counts: [...this.#counts] };
  }
}

/** Counts of words, and of nulls; past so many different ones, new ones are not counted. */
export class WordCounts {
  readonly #counts = new Map<string | null, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a word, or a null. */
  add(word: string | null): void {
    const before = this.#counts.get(word);
    if (before === undefined && this.#counts.size >= this.#most) return;
    this.#counts.set(word, (before ?? 0) + 1);
  }

  /** How many different ones were told apart. */
  get different(): number {
    return this.#counts.size;
  }

  /** The most frequent ones, and how often each was counted: only those are sorted. */
  top(most: number): [word: string | null, count: number][] {
    const all = [...this.#counts];
    if (all.length <= most) return all.sort(([, a], [, b]) => b - a);
    const counts = Float64Array.from(all, ([, count]) => count).sort();
    const least = counts[counts.length - most]!;
    const more = all.filter(([, count]) => count > least);
    for (const word of all) { // those of the least count that came first
      if (more.length === most) break;
      if (word[1] === least) more.push(word);
    }
    return more.sort(([, a], [, b]) => b - a);
  }
}
