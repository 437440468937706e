import { decodeName } from "../../../base/names.ts";
import { isDot } from "../../../tree/archive/path_names.ts";

const SLASH = 0x2f;

/**
 * The directories of members as their names spell them, where that differs from their paths: `./p/`, `/p/`, `p//`. They
 * are part of the keys that WebDataset gives samples.
 */
export class SpelledDirectories {
  /** Where the names have each: its start and its end. */
  readonly ranges: number[] = [];
  readonly #intern: (bytes: Uint8Array, start: number, end: number) => number;
  readonly #numbers = new Map<string, number>();
  // The one before: most members have it as well.
  #last = new Uint8Array(0);
  #lastNumber = 0;

  /** @param intern Keeps bytes, and returns where. */
  constructor(
    intern: (bytes: Uint8Array, start: number, end: number) => number,
  ) {
    this.#intern = intern;
  }

  /** 1 and the number of a name's directory; 0 where its path has it as it is. */
  numberOf(name: Uint8Array): number {
    const length = name.lastIndexOf(SLASH) + 1;
    if (length === this.#last.length && startsWith(name, this.#last)) {
      return this.#lastNumber;
    }
    // The path of `a.txt/.` ends before it.
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

/** Whether some name of a directory is empty or `.`. */
function isRespelled(name: Uint8Array, length: number): boolean {
  for (let from = 0; from < length;) {
    let to = from;
    while (name[to] !== SLASH) to++;
    if (to === from || isDot(name, from, to)) return true;
    from = to + 1;
  }
  return false;
}
