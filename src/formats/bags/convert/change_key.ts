import type { Datapoint } from "../read/datapoint.ts";
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
  readonly isList: boolean;
  /** Makes a record of a record. */
  readonly recode: ((bytes: Raw) => Uint8Array) | undefined;
  /** Makes a record of a list. */
  readonly join: ((records: readonly Raw[]) => Uint8Array) | undefined;
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
    return { key, type: list.word, isList, recode: undefined, join: list.join };
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
  return {
    key,
    type: isList ? `${change.word}[]` : change.word,
    isList,
    recode: change.recode,
    join: undefined,
  };
}

/**
 * A datapoint as another generation has it.
 *
 * @throws {UnfitError} If a value has no form there; that of a list throws it when it is read.
 */
export async function changed(
  datapoint: Datapoint,
  changes: readonly KeyChange[],
  generation: Generation,
): Promise<Datapoint> {
  const made: [string, unknown][] = [];
  for (const change of changes) {
    const { key, isList, join } = change;
    const value = datapoint[key];
    if (!isList) {
      made.push([key, changedRecord(change, value as Raw, generation)]);
    } else if (join === undefined) {
      made.push([key, changedList(change, value as Iterable<Raw>, generation)]);
    } else {
      const records = await Array.fromAsync(value as Iterable<Raw>);
      made.push([key, fitting(key, generation, () => join(records))]);
    }
  }
  return Object.fromEntries(made);
}

function changedRecord(
  { key, recode }: KeyChange,
  record: Raw,
  generation: Generation,
): Uint8Array {
  return fitting(key, generation, () => recode?.(record) ?? record);
}

async function* changedList(
  change: KeyChange,
  records: AsyncIterable<Raw> | Iterable<Raw>,
  generation: Generation,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const record of records) {
    yield changedRecord(change, record, generation);
  }
}
