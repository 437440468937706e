import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import type { Picture } from "./picture.ts";
import {
  newRecipe,
  runStep,
  type SampleTransform,
  type Step,
  stepArgument,
  type TransformFunction,
} from "./transform.ts";

// deno-lint-ignore no-explicit-any -- what the steps between take is what the ones before make
type AnyStep = Step<any, any>;

/**
 * Steps one after the other. They may be transforms, functions, and modules that export either: with
 * functions, the chain stays in its thread.
 *
 * @typeParam Out What the last step makes.
 *
 * @example A chain for images
 * ```ts
 * import { CenterCrop, Compose, Normalize, Random, Scale, ToArray } from "@recordfs/recordfs/data";
 *
 * const chain = new Compose([
 *   new Scale(36), // the short edge
 *   new CenterCrop(28),
 *   new Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225], { scale: 1 / 255 }),
 *   new ToArray({ layout: "channels-first" }),
 * ]);
 * const gray = { data: new Uint8Array(64 * 48 * 3), height: 48, width: 64, channels: 3 } as const;
 * const { dtype, shape } = await chain.apply(gray, new Random(1));
 * console.log(dtype, shape); // <f4 [ 3, 28, 28 ]
 * ```
 */
export class Compose<Out = Picture> implements SampleTransform<unknown, Out> {
  readonly #steps: readonly AnyStep[];
  readonly #run: readonly TransformFunction<unknown, unknown>[];

  /**
   * Makes the transform.
   *
   * @param steps What to apply, the first one first.
   * @throws {TypeError} If one is no step.
   */
  constructor(
    // deno-lint-ignore no-explicit-any -- as above
    steps: readonly [...Step<any, any>[], Step<any, Out>] | readonly [],
  ) {
    this.#steps = [...steps];
    this.#run = this.#steps.map((step) => runStep(step));
  }

  /** Applies all steps: a promise where one of them gives a promise. */
  apply(value: unknown, random: Random): Out | Promise<Out> {
    const steps = this.#run;
    for (let i = 0; i < steps.length; i++) {
      value = steps[i]!(value, random);
      if (value instanceof Promise) return this.#rest(value, i + 1, random);
    }
    return value as Out;
  }

  async #rest(
    value: unknown,
    from: number,
    random: Random,
  ): Promise<Out> {
    value = await value;
    for (const step of this.#run.slice(from)) value = await step(value, random);
    return value as Out;
  }

  /**
   * How another thread makes it.
   *
   * @throws {DataError} With code `not-portable` if a step is a function.
   */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, Compose, import.meta.url, [
      this.#steps.map((step, i) => stepArgument(step, `Step ${i} of Compose`)),
    ]);
  }
}
