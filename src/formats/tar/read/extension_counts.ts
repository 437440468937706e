import { decodeName } from "../../../base/names.ts";
import type { PathEntries } from "../../../tree/archive/path_entries.ts";

/** Maximum number of extensions counted: data sets have few. */
const MOST_EXTENSIONS = 256;
/** Maximum bytes of an extension that are compared. */
const LONGEST_EXTENSION = 64;

interface Counted {
  readonly extension: string;
  /** Offset in the names. */
  readonly start: number;
  readonly length: number;
  count: number;
}

/** Counts files by extension: all after the first dot. After 256 distinct ones, new ones are ignored. */
export class ExtensionCounts {
  readonly #paths: PathEntries;
  readonly #names: Uint8Array;
  readonly #counted = new Map<string, Counted>();
  /** Last extension by position in the sample: most samples are alike. */
  readonly #last: Counted[] = [];

  constructor(paths: PathEntries) {
    this.#paths = paths;
    this.#names = paths.names;
  }

  /** @param position Number of earlier files in its sample. */
  add(position: number, start: number, end: number): void {
    const length = Math.min(end - start, LONGEST_EXTENSION);
    const last = this.#last[position];
    if (
      last?.length === length &&
      this.#paths.startAlike(start, last.start, length)
    ) {
      last.count++;
      return;
    }
    const extension = decodeName(this.#names, start, start + length);
    let counted = this.#counted.get(extension);
    if (counted === undefined) {
      if (this.#counted.size === MOST_EXTENSIONS) return;
      counted = { extension, start, length, count: 0 };
      this.#counted.set(extension, counted);
    }
    counted.count++;
    if (position < MOST_EXTENSIONS) this.#last[position] = counted;
  }

  list(): (readonly [string, number])[] {
    return [...this.#counted.values()]
      .map(({ extension, count }) => [extension, count] as const);
  }
}
