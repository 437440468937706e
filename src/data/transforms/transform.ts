import type { Random } from "../random/random.ts";
import {
  argument,
  type Imported,
  importedRecipe,
  importedValue,
  isPortable,
  type RECIPE,
  type Recipe,
} from "../recipe.ts";

/**
 * Transforms one sample for the next step or for training.
 *
 * Its random choices come only from `random`, so that the same seed, epoch and index give the same result. It must
 * not modify its input.
 */
export interface SampleTransform<In, Out> {
  /** Transforms one sample. */
  apply(value: In, random: Random): Out | Promise<Out>;
  /** Returns the recipe that constructs the transform in another thread; `undefined` if that is impossible. */
  [RECIPE](): Recipe | undefined;
}

/**
 * A step of a chain: a transform, a function, or a module that exports either. A function keeps the chain in its
 * thread; an export of a module can go to worker threads.
 */
export type Step<In, Out> =
  | SampleTransform<In, Out>
  | Imported<(value: In, random: Random) => Out | Promise<Out>>;

/** A step as a function. */
export type TransformFunction<In, Out> = SampleTransform<In, Out>["apply"];

/**
 * Key of the method that replaces `apply` if other steps follow. It may defer decoding until these determine what
 * is needed.
 */
export const PLAN: unique symbol = Symbol("recordfs.plan");

export function runStep<In, Out>(
  step: Step<In, Out>,
): TransformFunction<In, Out> {
  if (isTransform<In, Out>(step)) {
    return (value, random) => step.apply(value, random);
  }
  if (typeof step === "function") return step;
  if (isElsewhere(step)) return runImported<In, Out>(step);
  throw new TypeError(
    "A transform must be one such as new CenterCrop(224), a function, or the URL of a " +
      `module that exports either, not ${String(step)}`,
  );
}

/** Whether a step is a transform object, rather than a function or an imported step. */
export function isTransform<In, Out>(
  value: unknown,
): value is SampleTransform<In, Out> {
  return typeof value === "object" && value !== null && "apply" in value &&
    typeof value.apply === "function";
}

function isElsewhere(step: unknown): step is Imported<never> {
  return step instanceof URL ||
    typeof step === "object" && step !== null && "module" in step;
}

/** Returns a function that imports the module on its first call. */
function runImported<In, Out>(
  from: Imported<never>,
): TransformFunction<In, Out> {
  let run: TransformFunction<In, Out> | undefined;
  let loading: Promise<void> | undefined;
  const load = async () => {
    run = runStep(await importedValue(from) as Step<In, Out>);
  };
  return async (value, random) => {
    if (run === undefined) await (loading ??= load());
    return await run!(value, random);
  };
}

/**
 * Returns a step as an argument of a recipe.
 *
 * @throws {DataError} With code `not-portable` if the step is or contains a function.
 */
export function stepArgument(
  step: Step<never, unknown>,
  what: string,
): unknown {
  if (isPortable(step)) return argument(step, what);
  if (isTransform(step)) return argument(step.apply, what); // no recipe: throws as for a function
  return { recipe: importedRecipe(step as Imported<unknown>, what) };
}

/** Returns the recipe that calls `new`; `undefined` for a subclass, whose module is unknown here. */
export function newRecipe(
  value: object,
  made: { readonly name: string },
  module: string,
  args: readonly unknown[],
): Recipe | undefined {
  if (value.constructor !== made) return undefined;
  return { module, name: made.name, how: "new", args };
}
