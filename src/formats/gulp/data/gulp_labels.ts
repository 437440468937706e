import type { JsonValue } from "../../../codecs/json/value.ts";
import { DataError } from "../../../data/data_error.ts";
import {
  argument,
  type Imported,
  importedFunction,
  type ImportedName,
  importedRecipe,
} from "../../../data/recipe.ts";

/** Metadata of a video. */
export type GulpMeta = { readonly [key: string]: JsonValue };

/** Labels that remain text. */
export interface TextLabel {
  /** Key of the text in meta_data. */
  readonly text: string;
}

/** Makes a label from a video's metadata and id. */
export type LabelFunction<Label> = (
  meta: GulpMeta,
  id: string,
) => Label | Promise<Label>;

/**
 * Origin of labels: the key in meta_data of a number, or of a text that has a number in `label2idx.json`; the key of a
 * text to keep as it is; a module with a {@linkcode LabelFunction}; or `null` for no labels.
 */
export type LabelChoice = string | TextLabel | URL | ImportedName | null;

/** Type of labels by their origin. */
export type LabelOf<Choice> = Choice extends string ? number
  : Choice extends null ? undefined
  : Choice extends TextLabel ? string
  : unknown;

/**
 * Options for labels of samples.
 *
 * @typeParam Found Label found.
 * @typeParam Label Label of samples.
 */
export interface GulpLabelOptions<
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> {
  /** Origin of labels: the key `label` by default, or a function of meta_data and id. */
  readonly label?: Choice | LabelFunction<Found> | undefined;
  /** Transforms the label, or its number, into the label of a sample. */
  readonly targetTransform?:
    | Imported<(label: Found) => Label | Promise<Label>>
    | undefined;
}

/** Label options with erased types. */
// deno-lint-ignore no-explicit-any -- what is found is what the next one takes
export type AnyLabelOptions = GulpLabelOptions<LabelChoice, any, unknown>;

export type FindLabel = (meta: GulpMeta, id: string) => unknown;

/** Returns a function that finds labels; `numbers` are those of `label2idx.json`. */
export async function loadLabels(
  { label = "label", targetTransform }: AnyLabelOptions,
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
  { label, targetTransform }: AnyLabelOptions,
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
  label: LabelChoice | LabelFunction<unknown>,
  numbers: ReadonlyMap<string, number> | undefined,
): Promise<FindLabel> {
  if (label === null) return () => undefined;
  if (typeof label === "string") {
    return (meta) => numberOf(meta, label, numbers);
  }
  if (typeof label === "function") return label;
  if (isElsewhere(label)) {
    return await importedFunction<LabelFunction<unknown>>(label);
  }
  if (typeof label.text !== "string") {
    throw new TypeError(
      "The option label must be a key of meta_data, {text: key}, a function, a module or null",
    );
  }
  return (meta) => textOf(meta, label.text);
}

function isElsewhere(
  label: LabelChoice | LabelFunction<unknown> | undefined,
): label is URL | ImportedName {
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
