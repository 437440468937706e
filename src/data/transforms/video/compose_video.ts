import { Random } from "../../random/random.ts";
import { RECIPE, type Recipe } from "../../recipe.ts";
import { assertFrames, settled } from "./all_frames.ts";
import { Compose } from "../compose.ts";
import type { Picture } from "../picture.ts";
import {
  newRecipe,
  type SampleTransform,
  type Step,
  stepArgument,
} from "../transform.ts";

// deno-lint-ignore no-explicit-any -- what the steps between take is what the ones before make
type AnyStep = Step<any, any>;

/**
 * Steps for each frame of a clip, and then steps for the clip as a whole. What is random in the former
 * is so for each frame by itself; the latter, with `Video` in their names, treat all frames alike.
 *
 * @typeParam Out What the last step for clips makes; the list of frames where there is none.
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
   * @param imageSteps What to apply to each frame.
   * @param videoSteps What to apply to the clip afterwards.
   * @throws {TypeError} If one is no step.
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
    assertFrames(frames, "ComposeVideo");
    const keys = [random.uint32(), random.uint32()];
    // Each frame has numbers of its own, whichever is done first.
    const done = settled(
      frames.map((frame, i) =>
        this.#image.apply(frame, new Random(...keys, i))
      ),
    );
    return done instanceof Promise
      ? done.then((frames) => this.#video.apply(frames, random))
      : this.#video.apply(done, random);
  }

  /**
   * How another thread makes it.
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
