import { ArrangedDataset, type SamplePlace } from "../arranged_dataset.ts";
import type { Dataset, GetOptions } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { requireSources } from "./count_of.ts";
import { OwnSeed } from "./own_seed.ts";

/** Options of {@linkcode Mix}. */
export interface MixOptions {
  /** A safe integer ≥ 0: other seeds, other choices. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * At each step one of several sources, drawn at random by their weights, which is asked for the same
 * step. Which one follows from the step, the seed given here, and the loader's.
 *
 * A source that is not drawn for a step has that step left out: to see all of a dataset, mix
 * {@linkcode Sample}s, or {@linkcode Epochs} whose steps that are left out come in a later epoch.
 *
 * @typeParam T What one sample is.
 *
 * @example One in five from the first
 * ```ts
 * import { Epochs, FFRecordDataset, Mix } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using few = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * using one = await FFRecordDataset.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const source = new Mix([new Epochs(few), new Epochs(one)], [0.2, 0.8], { seed: 1 });
 * const samples = await source.get(Array.from({ length: 1000 }, (_, step) => step));
 * const [rare] = await one.get([0]);
 * const share = samples.filter(({ length }) => length === rare!.length).length / 1000;
 * assert.ok(share > 0.7);
 * ```
 */
export class Mix<T> extends ArrangedDataset<T> {
  /** Number of steps that every source has; `Infinity` where none of them ends. */
  override readonly length: number;
  readonly #weights: readonly number[];
  /** Where in [0, 1) each source's share ends; 1 from the last one on that has any. */
  readonly #ends: readonly number[];
  readonly #seed: OwnSeed;

  /**
   * Makes a source of several.
   *
   * @param weights How often each is drawn, in any unit: 1 and 4 are as 0.2 and 0.8.
   * @throws {RangeError} If there are not as many weights as sources, or a weight is negative or no
   * number, or all are 0.
   */
  constructor(
    sources: readonly Dataset<T>[],
    weights: readonly number[],
    options: MixOptions = {},
  ) {
    super(sources);
    requireSources(sources, "Mix");
    this.length = Math.min(...sources.map(({ length }) => length));
    this.#weights = [...weights];
    this.#ends = endsOf(weights, sources.length);
    this.#seed = new OwnSeed("mix", options.seed ?? 0);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const options: MixOptions = { seed: this.#seed.given };
    const sources = this.sourceArguments("Source");
    const args = [sources, this.#weights, options];
    return recipeOf(this, Mix, import.meta.url, args);
  }

  /** The same step of the source that is drawn. */
  protected override placeOf(step: number, options: GetOptions): SamplePlace {
    const drawn = new Random(this.#seed.for(options), step).float();
    let source = 0;
    while (drawn >= this.#ends[source]!) source++;
    return { part: source, index: step };
  }

  /** Sources are drawn by the loader's seed. */
  protected override get isDrawn(): boolean {
    return true;
  }
}

function endsOf(weights: readonly number[], sources: number): number[] {
  if (weights.length !== sources) {
    throw new RangeError(
      `Mix needs a weight for each source: there are ${sources}, and weights for ${weights.length}`,
    );
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const areShares = weights.every((weight) => weight >= 0) && sum > 0 &&
    sum < Infinity;
  if (!areShares) {
    throw new RangeError(
      `Mix needs weights from 0 on that are not all 0, not ${
        weights.join(", ")
      }`,
    );
  }
  let end = 0;
  const last = weights.findLastIndex((weight) => weight > 0);
  // The sum of the shares may miss 1 by a rounding error, and a source of weight 0 is never drawn.
  return weights.map((weight, i) => i < last ? (end += weight) / sum : 1);
}
