import type { Random } from "../random/random.ts";
import {
  argument,
  type Imported,
  type ImportedName,
  importedRecipe,
  importedValue,
  isPortable,
  type Portable,
  type Recipe,
} from "../recipe.ts";

/**
 * Makes of one sample what the next step, or the training, takes.
 *
 * What is random about it comes from the `random` it is given, and from nothing else: so the same seed,
 * epoch and index give the same result. It leaves what it is given as it is.
 */
export interface SampleTransform<In, Out> extends Portable {
  /** Transforms one sample. */
  apply(value: In, random: Random): Out | Promise<Out>;
}

/** A transform that is a function. */
export type TransformFunction<In, Out> = (
  value: In,
  random: Random,
) => Out | Promise<Out>;

/**
 * A step of a chain: a transform, a function, or the module whose export either is. A function keeps
 * the chain in its thread; what has a module of its own can go to workers.
 */
export type Step<In, Out> =
  | SampleTransform<In, Out>
  | Imported<TransformFunction<In, Out>>;

/** What a step that decodes does instead of `apply` where other steps follow: they say what is wanted. */
export const PLAN: unique symbol = Symbol("recordfs.plan");

/** A step's work, ready to be called. */
export function runStep<In, Out>(
  step: Step<In, Out>,
): TransformFunction<In, Out> {
  if (isTransform<In, Out>(step)) {
    return (value, random) => step.apply(value, random);
  }
  if (typeof step === "function") return step;
  if (isElsewhere(step)) return runImported<In, Out>(step);
  throw new TypeError(
    `${
      String(step)
    } is no transform: give one such as new CenterCrop(224), a function, or the URL ` +
      `of a module that exports either`,
  );
}

/** Whether a step is a transform, and no function, here or in a module. */
export function isTransform<In, Out>(
  value: unknown,
): value is SampleTransform<In, Out> {
  return typeof value === "object" && value !== null && "apply" in value &&
    typeof value.apply === "function";
}

function isElsewhere(step: unknown): step is URL | ImportedName {
  return step instanceof URL ||
    typeof step === "object" && step !== null && "module" in step;
}

/** Imports the module when the first value comes. */
function runImported<In, Out>(
  from: URL | ImportedName,
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
 * A step among the arguments of a recipe.
 *
 * @throws {DataError} With code `not-portable` if it is a function, or has one in it.
 */
export function stepArgument(
  step: Step<never, unknown>,
  what: string,
): unknown {
  if (isPortable(step)) return argument(step, what);
  if (isTransform(step)) return argument(step.apply, what); // without a recipe: a function, no more
  return { recipe: importedRecipe(step as Imported<unknown>, what) };
}

/**
 * The recipe of a value that `new` makes; `undefined` for one of a subclass, of which this module does
 * not know where it stands.
 */
export function newRecipe(
  value: object,
  made: { readonly name: string },
  module: string,
  args: readonly unknown[],
): Recipe | undefined {
  if (value.constructor !== made) return undefined;
  return { module, name: made.name, how: "new", args };
}
