import { Random } from "../random/random.ts";
import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { ownArray, type TakeArray } from "./array_rows.ts";
import { type Picture, ScaledImage } from "./picture.ts";
import { PlannedArray } from "./to_array.ts";
import {
  isTransform,
  newRecipe,
  PLAN,
  runStep,
  type SampleTransform,
  type Step,
  stepArgument,
  type TransformFunction,
} from "./transform.ts";

// deno-lint-ignore no-explicit-any -- what the steps between take is what the ones before make
type AnyStep = Step<any, any>;

/**
 * Returns a step as a function that may defer decoding, so that the steps that follow determine which part of a
 * picture is decoded; {@linkcode finished} completes it. A plain function gets decoded pictures: it may keep them
 * longer than the bytes that they are decoded from exist.
 */
export function plannedStep(
  step: AnyStep,
): TransformFunction<unknown, unknown> {
  const run = runStep(step);
  if (!isTransform(step)) {
    return (value, random) => run(finished(value), random);
  }
  if (!plansItself(step)) return run;
  const plan = step[PLAN] as TransformFunction<unknown, unknown>;
  return (value, random) => plan.call(step, value, random);
}

/** Whether a step's `PLAN` belongs to its `apply`: a subclass may have overridden `apply` alone. */
function plansItself(step: object): step is { [PLAN]: unknown } {
  let owner: { apply?: unknown } | null = step;
  while (owner !== null && !Object.hasOwn(owner, PLAN)) {
    owner = Object.getPrototypeOf(owner);
  }
  return owner !== null && "apply" in step && owner.apply === step.apply;
}

/** Decodes what steps have deferred. `take` allocates the array, if the value becomes one. */
export function finished(
  value: unknown,
  take: TakeArray = ownArray,
): unknown {
  if (value instanceof PlannedImage || value instanceof ScaledImage) {
    return value.made();
  }
  if (value instanceof PlannedArray) return value.made(take);
  const isClip = Array.isArray(value) && value.some(isPlanned);
  return isClip ? value.map((frame) => finished(frame)) : value;
}

function isPlanned(value: unknown): boolean {
  return value instanceof PlannedImage || value instanceof ScaledImage ||
    value instanceof PlannedArray;
}

function finishedLater<Out>(made: unknown): Out | Promise<Out> {
  return (made instanceof Promise
    ? made.then((value) => finished(value))
    : finished(made)) as Out | Promise<Out>;
}

/**
 * Applies steps one after the other: transforms, functions, or modules that export either. With functions, the
 * chain cannot leave its thread.
 *
 * @typeParam Out Result of the last step.
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
   * @param steps Steps in the order in which they are applied.
   * @throws {TypeError} If one is not a step.
   */
  constructor(
    // deno-lint-ignore no-explicit-any -- as above
    steps: readonly [...Step<any, any>[], Step<any, Out>] | readonly [],
  ) {
    this.#steps = [...steps];
    this.#run = this.#steps.map(plannedStep);
  }

  /** Applies all steps. Returns a promise if one of them does. */
  apply(value: unknown, random: Random): Out | Promise<Out> {
    return finishedLater(this[PLAN](value, random));
  }

  /** Applies all steps. Pictures in the result may still be undecoded. */
  [PLAN](value: unknown, random: Random): unknown {
    const steps = this.#run;
    for (let i = 0; i < steps.length; i++) {
      value = steps[i]!(value, random);
      if (value instanceof Promise) return this.#rest(value, i + 1, random);
    }
    return value;
  }

  async #rest(
    value: unknown,
    from: number,
    random: Random,
  ): Promise<unknown> {
    value = await value;
    for (const step of this.#run.slice(from)) value = await step(value, random);
    return value;
  }

  /**
   * Returns the recipe that constructs this transform in another thread.
   *
   * @throws {DataError} With code `not-portable` if a step is a function.
   */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, Compose, import.meta.url, [
      this.#steps.map((step, i) => stepArgument(step, `Step ${i} of Compose`)),
    ]);
  }
}

/**
 * Applies steps to each frame of a clip, and then steps to the clip as a whole. The former get random numbers for
 * each frame; the latter, with `Video` in their names, treat all frames alike.
 *
 * @typeParam Out Result of the last step for clips; the list of frames if there is none.
 */
export class ComposeVideo<Out = Picture[]> implements
  // deno-lint-ignore no-explicit-any -- the first step says what it takes, when it is given it
  SampleTransform<readonly any[], Out> {
  readonly #imageSteps: readonly AnyStep[];
  readonly #videoSteps: readonly AnyStep[];
  readonly #image: Compose<unknown>;
  readonly #video: Compose<Out>;

  /**
   * Makes the transform.
   *
   * @param imageSteps Steps for each frame.
   * @param videoSteps Steps for the clip afterwards.
   * @throws {TypeError} If one is not a step.
   */
  constructor(
    imageSteps: readonly AnyStep[] = [],
    // deno-lint-ignore no-explicit-any -- as above
    videoSteps: readonly [...Step<any, any>[], Step<any, Out>] | readonly [] =
      [],
  ) {
    this.#imageSteps = [...imageSteps];
    this.#videoSteps = [...videoSteps];
    this.#image = new Compose(
      this.#imageSteps as readonly [...AnyStep[], AnyStep],
    );
    this.#video = new Compose<Out>(videoSteps);
  }

  /** Applies all steps. */
  apply(
    frames: readonly unknown[],
    random: Random,
  ): Out | Promise<Out> {
    return finishedLater(this[PLAN](frames, random));
  }

  /** Applies all steps. Pictures in the result may still be undecoded. */
  [PLAN](frames: readonly unknown[], random: Random): unknown {
    assertFrames(frames, "ComposeVideo");
    const keys = [random.uint32(), random.uint32()];
    // Each frame has its own random numbers, in whatever order frames finish.
    const done = settled(
      frames.map((frame, i) =>
        this.#image[PLAN](frame, new Random(...keys, i))
      ),
    );
    return done instanceof Promise
      ? done.then((frames) => this.#video[PLAN](frames, random))
      : this.#video[PLAN](done, random);
  }

  /**
   * Returns the recipe that constructs this transform in another thread.
   *
   * @throws {DataError} With code `not-portable` if a step is a function.
   */
  [RECIPE](): Recipe | undefined {
    const args = (steps: readonly AnyStep[], what: string) =>
      steps.map((step, i) =>
        stepArgument(step, `${what} step ${i} of ComposeVideo`)
      );
    return newRecipe(this, ComposeVideo, import.meta.url, [
      args(this.#imageSteps, "Image"),
      args(this.#videoSteps, "Video"),
    ]);
  }
}

/**
 * Applies an image transform to all frames of a clip with the same random numbers: all are cropped at the same
 * position, and all or none are flipped.
 *
 * @typeParam In What a frame is.
 * @typeParam Out What the step returns.
 */
export class AllFrames<In, Out>
  implements SampleTransform<readonly In[], Out[]> {
  readonly #step: Step<In, Out>;
  readonly #run: TransformFunction<In, Out>;

  /**
   * Makes the transform.
   *
   * @param step Step for each frame.
   * @throws {TypeError} If it is not a step.
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
      // A short clip repeats its last frame.
      if (frame !== before) result = this.#run(frame, new Random(...keys));
      before = frame;
      return result;
    }));
  }

  /**
   * Returns the recipe that constructs this transform in another thread.
   *
   * @throws {DataError} With code `not-portable` if its step is a function.
   */
  [RECIPE](): Recipe | undefined {
    // A subclass is equivalent to `AllFrames` of its step, unless it overrides `apply`.
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

/** @throws {TypeError} If a step was given anything but a list of frames. */
export function assertFrames(frames: readonly unknown[], step: string): void {
  if (Array.isArray(frames)) return;
  throw new TypeError(
    `${step} takes the frames of a clip, a list, but was given ` +
      "something else: for single pictures there are transforms without Video in their " +
      "names",
  );
}

/** Returns the results, as a promise if one of them is. */
export function settled<Out>(
  results: (Out | Promise<Out>)[],
): Out[] | Promise<Out[]> {
  return results.some((result) => result instanceof Promise)
    ? Promise.all(results)
    : results as Out[];
}
