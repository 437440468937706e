import { Random } from "../../random/random.ts";
import { RECIPE, type Recipe } from "../../recipe.ts";
import {
  runStep,
  type SampleTransform,
  type Step,
  stepArgument,
  type TransformFunction,
} from "../transform.ts";

/**
 * Applies a transform for images to all frames of a clip, with the same random numbers for each: they
 * are cropped at the same place, and all flipped or none.
 *
 * @typeParam In What a frame is.
 * @typeParam Out What it becomes.
 */
export class AllFrames<In, Out>
  implements SampleTransform<readonly In[], Out[]> {
  readonly #step: Step<In, Out>;
  readonly #run: TransformFunction<In, Out>;

  /**
   * Makes the transform.
   *
   * @param step What to apply to each frame.
   * @throws {TypeError} If it is no step.
   */
  constructor(step: Step<In, Out>) {
    this.#step = step;
    this.#run = runStep(step);
  }

  /** Transforms all frames. */
  apply(frames: readonly In[], random: Random): Out[] | Promise<Out[]> {
    assertFrames(frames, this.constructor.name);
    const keys = [random.uint32(), random.uint32()];
    let before: In | undefined;
    let result: Out | Promise<Out>;
    return settled(frames.map((frame) => {
      // A short clip ends in the same frame again and again.
      if (frame !== before) result = this.#run(frame, new Random(...keys));
      before = frame;
      return result;
    }));
  }

  /**
   * How another thread makes it.
   *
   * @throws {DataError} With code `not-portable` if its step is a function.
   */
  [RECIPE](): Recipe | undefined {
    // Whatever class it has, it is its step, unless it applies it in a way of its own.
    if (this.apply !== AllFrames.prototype.apply) return undefined;
    const step = stepArgument(this.#step, "The step of AllFrames");
    return {
      module: import.meta.url,
      name: "AllFrames",
      how: "new",
      args: [step],
    };
  }
}

/**
 * Makes sure that a step was given a clip.
 *
 * @throws {TypeError} If it was given something else.
 */
export function assertFrames(frames: readonly unknown[], step: string): void {
  if (Array.isArray(frames)) return;
  throw new TypeError(
    `${step} takes the frames of a clip, a list, but was given something else: for single pictures ` +
      "there are transforms without Video in their names",
  );
}

/** Results, once all are there. */
export function settled<Out>(
  results: (Out | Promise<Out>)[],
): Out[] | Promise<Out[]> {
  return results.some((result) => result instanceof Promise)
    ? Promise.all(results)
    : results as Out[];
}
