import type { Datapoint } from "../read/selection.ts";
import type { Generation } from "../dataset/generation.ts";
import { parseType } from "../dataset/spec.ts";
import {
  ConversionError,
  type PlanNotes,
} from "../../../convert/conversion.ts";
import { joinLists } from "./list_types.ts";
import { fitting } from "./new_dataset.ts";
import { changeWord, packWord, type Raw } from "./value_types.ts";

/** How the values of a key are written in another generation. */
export interface KeyChange {
  readonly key: string;
  readonly type: string;
  /**
   * Makes a value of a value: of a record, or of an iterable of them for a list.
   *
   * @throws {UnfitError} If it has no form there; that of a list throws it when it is read.
   */
  change(value: unknown): unknown;
}

/**
 * How a key is written in another generation; what changes, and what is lost, is noted.
 *
 * @throws {ConversionError} If its type means something else there.
 */
export function changeKey(
  path: string,
  key: string,
  text: string,
  { from, to, empty }: {
    readonly from: Generation;
    readonly to: Generation;
    /** How many values have no bytes. */
    readonly empty: number;
  },
  notes: PlanNotes,
): KeyChange {
  const type = parseType(text, from !== 3);
  const { isList } = type;
  if (from === 3 && to !== 3 && text.endsWith("[]")) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path}: the type '${text}' of '${key}' would be that of a list in ` +
        `generation ${to}; rename it in spec.json`,
      path,
    );
  }
  const note = (what: string) => notes.changed.push(`'${key}': ${what}`);
  if (isList && to === 3) {
    const list = joinLists(type, from);
    note(list.note);
    return {
      key,
      type: list.word,
      async change(value) {
        const records = await Array.fromAsync(value as Iterable<Raw>);
        return fitting(key, to, () => list.join(records));
      },
    };
  }
  let change = changeWord(type, from, to);
  if (empty > 0 && change.recode === undefined) {
    const packed = packWord(type);
    if (packed !== undefined) change = packed;
    else {
      notes.lost.push(
        `datapoints with an empty '${key}' (${empty} values): generation ${to} has no empty records`,
      );
    }
  }
  if (change.note !== undefined) note(change.note);
  const { word, recode } = change;
  const recoded = (record: Raw) =>
    fitting(key, to, () => recode?.(record) ?? record);
  return isList
    ? { key, type: `${word}[]`, change: (list) => eachOf(list, recoded) }
    : { key, type: word, change: (record) => recoded(record as Raw) };
}

async function* eachOf(
  list: unknown,
  make: (record: Raw) => Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const record of list as Iterable<Raw>) yield make(record);
}

/**
 * A datapoint as another generation has it.
 *
 * @throws {UnfitError} As {@linkcode KeyChange.change} does.
 */
export async function changed(
  datapoint: Datapoint,
  changes: readonly KeyChange[],
): Promise<Datapoint> {
  const made: [string, unknown][] = [];
  for (const { key, change } of changes) {
    made.push([key, await change(datapoint[key])]);
  }
  return Object.fromEntries(made);
}
