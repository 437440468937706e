import type { GetOptions } from "../dataset.ts";
import { Random } from "../random/random.ts";
import { wholeNumber } from "../whole_numbers.ts";

/** What draws: two sources of different kinds do not draw alike, though their seeds are the same. */
const KINDS = ["epochs", "mix", "sample", "transform", "pass"] as const;

/** Seeds are whole numbers below this. */
const SEEDS = Number.MAX_SAFE_INTEGER;

/**
 * The seed that a source draws with. It follows from the source's own seed and from what a batch is read
 * for, the loader's seed and epoch: whichever of them changes, other numbers come.
 */
export class OwnSeed {
  /** The seed that the source was given. */
  readonly given: number;
  readonly #kind: number;
  #seed = -1;
  #epoch = -1;
  #derived = 0;

  /**
   * @param kind What draws.
   * @param given A safe integer ≥ 0.
   * @throws {RangeError} If it is none.
   */
  constructor(kind: typeof KINDS[number], given: number) {
    wholeNumber(given, 0, "The seed");
    this.#kind = KINDS.indexOf(kind);
    this.given = given;
  }

  /** The seed for what is read so. */
  for({ seed = 0, epoch = 0 }: GetOptions = {}): number {
    if (seed !== this.#seed || epoch !== this.#epoch) {
      const random = new Random(seed, epoch, this.given, this.#kind);
      this.#derived = random.int(SEEDS);
      this.#seed = seed;
      this.#epoch = epoch;
    }
    return this.#derived;
  }
}
