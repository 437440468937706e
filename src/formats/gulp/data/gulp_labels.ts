import type { JsonValue } from "../../../codecs/json/value.ts";
import { DataError } from "../../../data/data_error.ts";
import {
  argument,
  type Imported,
  importedFunction,
  type ImportedName,
  importedRecipe,
} from "../../../data/recipe.ts";

/** What a video's meta_data says. */
export type GulpMeta = { readonly [key: string]: JsonValue };

/** Labels that stay texts. */
export interface TextLabel {
  /** The key of meta_data that has the text. */
  readonly text: string;
}

/** Makes a label of what is known of a video. */
export type LabelFunction<Label> = (
  meta: GulpMeta,
  id: string,
) => Label | Promise<Label>;

/**
 * Where labels come from: the key of meta_data that has a number, or a text that has a number in
 * `label2idx.json`; or a text that is to stay one; or a module with a {@linkcode LabelFunction}; or nowhere
 * (`null`).
 */
export type LabelChoice = string | TextLabel | URL | ImportedName | null;

/** What labels are, by where they come from. */
export type LabelOf<Choice> = Choice extends string ? number
  : Choice extends null ? undefined
  : Choice extends TextLabel ? string
  : unknown;

/**
 * Where samples have their labels from.
 *
 * @typeParam Found What is found.
 * @typeParam Label What samples have.
 */
export interface GulpLabelOptions<
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> {
  /** Where labels come from: the key `label` unless given; or a function of meta_data and id. */
  readonly label?: Choice | LabelFunction<Found> | undefined;
  /** Makes of the label, or of its number, what samples have. */
  readonly targetTransform?:
    | Imported<(label: Found) => Label | Promise<Label>>
    | undefined;
}

/** Options whose types do not matter any more. */
// deno-lint-ignore no-explicit-any -- what is found is what the next one takes
export type AnyLabelOptions = GulpLabelOptions<LabelChoice, any, unknown>;

/** Finds the label of a video. */
export type FindLabel = (meta: GulpMeta, id: string) => unknown;

/**
 * Gets ready to find the labels of videos.
 *
 * @param numbers What `label2idx.json` says.
 */
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

/**
 * Options of labels as arguments of a recipe.
 *
 * @throws {DataError} With code `not-portable` if one is a function.
 */
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
      "The option label is none of these: a key of meta_data, {text: key}, a function, a module, null",
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
