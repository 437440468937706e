import type { GetOptions } from "../dataset.ts";
import { Random } from "../random/random.ts";
import { remembered } from "../samplers/sampler.ts";
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
  readonly #derived: (seed: number, epoch?: number) => number;

  /**
   * @param kind What draws.
   * @param given A safe integer ≥ 0.
   * @throws {RangeError} If it is none.
   */
  constructor(kind: typeof KINDS[number], given: number) {
    wholeNumber(given, 0, "The seed");
    this.given = given;
    this.#derived = remembered((seed, epoch) =>
      new Random(seed, epoch, given, KINDS.indexOf(kind)).int(SEEDS)
    );
  }

  /** The seed for what is read so. */
  for({ seed = 0, epoch = 0 }: GetOptions = {}): number {
    return this.#derived(seed, epoch);
  }
}
