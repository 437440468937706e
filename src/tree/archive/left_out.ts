import { decodeName } from "../../names.ts";

/** Members that are named; of all others only how many there are is said. */
const MOST_NAMED = 5;

/** Members of an archive that are not shown. */
export class LeftOut {
  readonly #path: string;
  readonly #named: string[] = [];
  #count = 0;

  /** @param path The archive. */
  constructor(path: string) {
    this.#path = path;
  }

  /** @param what What the member is instead of something that is shown. */
  add(name: Uint8Array, what: string): void {
    if (++this.#count > MOST_NAMED) return;
    this.#named.push(
      `${this.#path}: '${decodeName(name)}' is left out: it is ${what}`,
    );
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  /** What to tell whoever opens the archive. */
  get warnings(): string[] {
    const more = this.#count - this.#named.length;
    return more > 0
      ? [...this.#named, `${this.#path}: ${more} more are left out as well`]
      : [...this.#named];
  }
}
