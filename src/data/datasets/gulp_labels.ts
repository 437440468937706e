import type { JsonValue } from "../../codecs/json/value.ts";
import { DataError } from "../data_error.ts";
import {
  argument,
  type Imported,
  importedFunction,
  importedRecipe,
} from "../recipe.ts";

/** What a video's meta_data says. */
export type GulpMeta = { readonly [key: string]: JsonValue };

/** Makes a label of what is known of a video. */
export type GulpLabel<Label> = (
  meta: GulpMeta,
  id: string,
) => Label | Promise<Label>;

/** What a label becomes. */
export type TargetTransform<Label> = (
  // deno-lint-ignore no-explicit-any -- a number or a text, or what `label` makes
  label: any,
) => Label | Promise<Label>;

/** Where samples have their labels from. */
export interface GulpLabelOptions<Label = number | string> {
  /**
   * The key of meta_data that has the label (`label`, unless given; its number in `label2idx.json`, where
   * there is that file), or a function of meta_data and id, or none (`null`: labels are `undefined`).
   */
  readonly label?: string | null | Imported<GulpLabel<Label>> | undefined;
  /** Makes of the label, or of its number, what samples have. */
  readonly targetTransform?: Imported<TargetTransform<Label>> | undefined;
}

/** Finds the labels of videos. */
export class GulpLabels<Label> {
  readonly #options: GulpLabelOptions<Label>;
  readonly #find: (meta: GulpMeta, id: string) => unknown;
  readonly #transform: TargetTransform<Label> | undefined;

  private constructor(
    options: GulpLabelOptions<Label>,
    find: (meta: GulpMeta, id: string) => unknown,
    transform: TargetTransform<Label> | undefined,
  ) {
    this.#options = options;
    this.#find = find;
    this.#transform = transform;
  }

  /**
   * Gets ready to find labels.
   *
   * @param numbers What `label2idx.json` says.
   */
  static async load<Label>(
    options: GulpLabelOptions<Label>,
    numbers: ReadonlyMap<string, number> | undefined,
  ): Promise<GulpLabels<Label>> {
    const { label = "label", targetTransform } = options;
    const find = label === null
      ? () => undefined
      : typeof label === "string"
      ? (meta: GulpMeta) => storedLabel(meta, label, numbers)
      : await importedFunction(label);
    const transform = targetTransform === undefined
      ? undefined
      : await importedFunction(targetTransform);
    return new GulpLabels(options, find, transform);
  }

  /** The label of a video. */
  async of(meta: GulpMeta, id: string): Promise<Label> {
    const label = await this.#find(meta, id);
    return this.#transform === undefined
      ? label as Label
      : await this.#transform(label);
  }

  /**
   * The options as arguments of a recipe.
   *
   * @throws {DataError} With code `not-portable` if one is a function.
   */
  arguments(): Record<string, unknown> {
    const { label, targetTransform } = this.#options;
    const inRecipe = (from: Imported<unknown>, what: string) => ({
      recipe: importedRecipe(from, what),
    });
    return {
      label: typeof label === "object" && label !== null
        ? inRecipe(label, "The option label")
        : argument(label, "The option label"),
      targetTransform: targetTransform === undefined
        ? undefined
        : inRecipe(targetTransform, "The option targetTransform"),
    };
  }
}

/** @throws {DataError} If there is no such label, or it has no number. */
function storedLabel(
  meta: GulpMeta,
  key: string,
  numbers: ReadonlyMap<string, number> | undefined,
): number | string {
  const label = Object.hasOwn(meta, key) ? meta[key] : undefined;
  if (typeof label !== "string" && typeof label !== "number") {
    throw noLabel(
      `its meta_data has no text or number '${key}': name another key by the option label, or make ` +
        "labels by a function of meta_data",
    );
  }
  if (numbers === undefined) return label;
  const number = numbers.get(String(label));
  if (number !== undefined) return number;
  throw noLabel(
    `label2idx.json has no number for its label ${
      JSON.stringify(label)
    }: add it there, or make ` +
      "labels by a function of meta_data (the option label)",
  );
}

function noLabel(reason: string): DataError {
  return new DataError("sample-failed", reason);
}
