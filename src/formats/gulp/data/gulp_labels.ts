import type { JsonValue } from "../../../codecs/json/value.ts";
import { DataError } from "../../../data/data_error.ts";
import {
  argument,
  type Imported,
  importedFunction,
  importedRecipe,
} from "../../../data/recipe.ts";
import type { AnyGulpOptions, GulpDatasetOptions } from "./gulp_dataset.ts";

/** Metadata of a video. */
type GulpMeta = { readonly [key: string]: JsonValue };

/** Options for labels of samples. */
export type LabelOptions = Pick<AnyGulpOptions, "label" | "targetTransform">;

/** Origin of labels, unless a function makes them. */
export type LabelChoice = Exclude<
  GulpDatasetOptions["label"],
  ((...args: never[]) => unknown) | undefined
>;

/** Makes a label from a video's metadata and id. */
export type FindLabel = (meta: GulpMeta, id: string) => unknown;

/** Returns a function that finds labels; `numbers` are those of `label2idx.json`. */
export async function loadLabels(
  { label = "label", targetTransform }: LabelOptions,
  numbers: ReadonlyMap<string, number> | undefined,
): Promise<FindLabel> {
  const transform = targetTransform &&
    await importedFunction(targetTransform);
  const find = await finder(label, numbers);
  if (transform === undefined) return find;
  return async (meta, id) => await transform(await find(meta, id));
}

/** Returns label options for a remote constructor; throws DataError `not-portable` if one is a function. */
export function labelArguments(
  { label, targetTransform }: LabelOptions,
): Record<string, unknown> {
  const inRecipe = (from: Imported<unknown>, what: string) => ({
    recipe: importedRecipe(from, what),
  });
  return {
    label: isElsewhere(label)
      ? inRecipe(label, "The option label")
      : argument(label, "The option label"),
    targetTransform: targetTransform &&
      inRecipe(targetTransform, "The option targetTransform"),
  };
}

async function finder(
  label: LabelChoice | FindLabel,
  numbers: ReadonlyMap<string, number> | undefined,
): Promise<FindLabel> {
  if (label === null) return () => undefined;
  if (typeof label === "string") {
    return (meta) => numberOf(meta, label, numbers);
  }
  if (typeof label === "function") return label;
  if (isElsewhere(label)) {
    return await importedFunction<FindLabel>(label);
  }
  if (typeof label.text !== "string") {
    throw new TypeError(
      "The option label must be a key of meta_data, {text: key}, a function, a module or null",
    );
  }
  return (meta) => textOf(meta, label.text);
}

function isElsewhere(
  label: LabelChoice | FindLabel | undefined,
): label is Imported<never> {
  return typeof label === "object" && label !== null &&
    (label instanceof URL || "module" in label);
}

/** @throws {DataError} If there is no such label, or it has no number. */
function numberOf(
  meta: GulpMeta,
  key: string,
  numbers: ReadonlyMap<string, number> | undefined,
): number {
  const label = Object.hasOwn(meta, key) ? meta[key] : undefined;
  if (typeof label === "number") return label;
  if (typeof label !== "string") throw noLabel(key, "number or text");
  const number = numbers?.get(label);
  if (number !== undefined) return number;
  const problem = numbers === undefined
    ? "there is no label2idx.json with a number for its label"
    : "label2idx.json has no number for its label";
  throw new DataError(
    "sample-failed",
    `${problem} ${JSON.stringify(label)}: write one, or keep texts by the ` +
      `option label: {text: "${key}"}`,
  );
}

/** @throws {DataError} If there is no such text. */
function textOf(meta: GulpMeta, key: string): string {
  const label = Object.hasOwn(meta, key) ? meta[key] : undefined;
  if (typeof label === "string") return label;
  throw noLabel(key, "text");
}

function noLabel(key: string, what: string): DataError {
  return new DataError(
    "sample-failed",
    `its meta_data has no ${what} '${key}': name another key by the option label, or make labels by a ` +
      "function of meta_data",
  );
}
