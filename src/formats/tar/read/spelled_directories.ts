import { decodeName } from "../../../base/names.ts";
import { isDot } from "../../../tree/archive/path_names.ts";

const SLASH = 0x2f;

/**
 * Directories as spelled in member names, if that differs from their paths: `./p/`, `/p/`, `p//`. The spelling is part
 * of WebDataset's sample keys.
 */
export class SpelledDirectories {
  /** Start and end of each in the names. */
  readonly ranges: number[] = [];
  readonly #intern: (bytes: Uint8Array, start: number, end: number) => number;
  readonly #numbers = new Map<string, number>();
  // The previous one: most members repeat it.
  #last = new Uint8Array(0);
  #lastNumber = 0;

  /** @param intern Stores bytes, and returns their offset. */
  constructor(
    intern: (bytes: Uint8Array, start: number, end: number) => number,
  ) {
    this.#intern = intern;
  }

  /** Returns the number of a name's directory plus 1, or 0 if it is spelled like its path. */
  numberOf(name: Uint8Array): number {
    const length = name.lastIndexOf(SLASH) + 1;
    if (length === this.#last.length && startsWith(name, this.#last)) {
      return this.#lastNumber;
    }
    // The path of `a.txt/.` ends before its last part.
    const isPath = length < name.length && !isDot(name, length, name.length);
    this.#last = name.slice(0, length);
    this.#lastNumber = isPath && isRespelled(name, length)
      ? this.#numberOf(length)
      : 0;
    return this.#lastNumber;
  }

  #numberOf(length: number): number {
    const text = decodeName(this.#last);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const start = this.#intern(this.#last, 0, length);
    const number = this.ranges.push(start, start + length) / 2;
    this.#numbers.set(text, number);
    return number;
  }
}

function startsWith(name: Uint8Array, start: Uint8Array): boolean {
  for (let i = 0; i < start.length; i++) {
    if (name[i] !== start[i]) return false;
  }
  return true;
}

/** Whether a directory contains empty names or `.`. */
function isRespelled(name: Uint8Array, length: number): boolean {
  for (let from = 0; from < length;) {
    let to = from;
    while (name[to] !== SLASH) to++;
    if (to === from || isDot(name, from, to)) return true;
    from = to + 1;
  }
  return false;
}
