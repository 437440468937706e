import { RecordfsError } from "../../../errors.ts";
import type { SpecKey } from "../dataset/spec.ts";

/** The values of a datapoint, by key. */
export type Datapoint = Record<string, unknown>;

/** A range of a sequence, such as of the values of a list. */
export interface ListRange {
  /** The first, from 0 on. */
  readonly start: number;
  /** The one behind the last. */
  readonly stop: number;
}

/**
 * What to read of datapoints: a list of keys; or by key whether to read it, or which values where its
 * type is a list.
 */
export type Mask =
  | readonly string[]
  | Readonly<Record<string, boolean | ListRange>>;

/** The keys of a dataset. */
interface Keys {
  /** The dataset's directory, for messages. */
  readonly path: string;
  readonly keys: readonly SpecKey[];
}

/** The values of each key that a mask asks for: those of its list, or any range for one value; none for none. */
export type Selection = readonly (ListRange | undefined)[];

const ALL: ListRange = { start: 0, stop: Infinity };

/**
 * Takes what a mask says.
 *
 * @param mask `undefined` for all.
 * @param places Where in `of.keys` each is.
 * @throws {RecordfsError} With code `unknown-key`.
 * @throws {TypeError} If a value is neither a boolean nor a range of a list.
 * @throws {RangeError} If it is no range.
 */
export function select(
  mask: Mask | undefined,
  of: Keys,
  places: ReadonlyMap<string, number>,
  into: (ListRange | undefined)[] = new Array(of.keys.length),
): Selection {
  into.fill(mask === undefined ? ALL : undefined);
  if (mask === undefined) return into;
  if (isList(mask)) {
    for (const key of mask) choose(of, places, into, key, true);
  } else {
    for (const key in mask) {
      if (!Object.hasOwn(mask, key)) continue;
      choose(of, places, into, key, mask[key]!);
    }
  }
  return into;
}

function choose(
  of: Keys,
  places: ReadonlyMap<string, number>,
  into: (ListRange | undefined)[],
  key: string,
  choice: boolean | ListRange,
): void {
  const place = places.get(key);
  if (place === undefined) throw unknownKey(of, key);
  if (choice === false) into[place] = undefined;
  else if (choice === true) into[place] = ALL;
  else {
    requireRange(of, place, choice);
    into[place] = choice;
  }
}

function requireRange({ path, keys }: Keys, place: number, range: ListRange) {
  const { key, type } = keys[place]!;
  if (!type.isList || typeof range?.start !== "number") {
    const choices = type.isList
      ? "true, false or { start, stop }"
      : "true or false";
    throw new TypeError(`A mask has ${choices} for '${key}' of ${path}`);
  }
  clippedCount(range.start, range.stop, 0);
}

/** The error for a key that a dataset does not have. */
export function unknownKey(
  { path, keys }: Keys,
  key: string,
): RecordfsError {
  const names = keys.map((known) => `'${known.key}'`).join(", ");
  return new RecordfsError(
    "unknown-key",
    `${path} has no key '${key}': its keys are ${names}`,
    { path, actual: key },
  );
}

function isList(mask: Mask): mask is readonly string[] {
  return Array.isArray(mask);
}

/**
 * How many of `length` things a range covers; those that do not exist are left out, as in Python.
 *
 * @throws {RangeError} If it is no range.
 */
export function clippedCount(
  start: number,
  stop: number,
  length: number,
): number {
  const isRange = Number.isSafeInteger(start) && start >= 0 && stop >= start &&
    (Number.isSafeInteger(stop) || stop === Infinity);
  if (!isRange) {
    throw new RangeError(
      `A range goes from a whole number on to one that is not smaller, not from ${start} to ${stop}`,
    );
  }
  return Math.max(0, Math.min(stop, length) - start);
}
