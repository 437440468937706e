import { RecordfsError } from "../../../base/errors.ts";
import type { SpecKey } from "../dataset/spec.ts";

/** Values of a datapoint, by key. */
export type Datapoint = Record<string, unknown>;

/** Parts of datapoints to read: a list of keys; or for each key whether to read it, or which values of its list. */
export type Mask =
  | readonly string[]
  | Readonly<
    Record<
      string,
      boolean | {
        /** First index, from 0. */
        readonly start: number;
        /** Index after the last. */
        readonly stop: number;
      }
    >
  >;

interface Keys {
  readonly path: string;
  readonly keys: readonly SpecKey[];
  /** Index in `keys` of each key. */
  readonly places: ReadonlyMap<string, number>;
}

/** A validated {@linkcode Mask}. Reused for every datapoint, to avoid allocations. */
export class Selection {
  /** 1 for each key to read. */
  readonly wanted: Uint8Array;
  /** First list value of each key to read. */
  readonly start: Float64Array;
  /** List value after the last. */
  readonly stop: Float64Array;
  readonly #of: Keys;

  constructor(of: Keys) {
    this.#of = of;
    const count = of.keys.length;
    this.wanted = new Uint8Array(count);
    this.start = new Float64Array(count);
    this.stop = new Float64Array(count);
  }

  /**
   * Sets the selection from a mask; `undefined` selects all.
   *
   * @throws {RecordfsError} With code `unknown-key`.
   * @throws {TypeError} If a value is neither a boolean nor a range of a list.
   * @throws {RangeError} If a range is invalid.
   */
  set(mask: Mask | undefined): this {
    this.wanted.fill(mask === undefined ? 1 : 0);
    this.start.fill(0);
    this.stop.fill(Infinity);
    if (mask === undefined) return this;
    if (isList(mask)) {
      for (const key of mask) this.#choose(key, true);
    } else {
      for (const key in mask) {
        if (Object.hasOwn(mask, key)) this.#choose(key, mask[key]!);
      }
    }
    return this;
  }

  #choose(
    key: string,
    choice: boolean | { readonly start: number; readonly stop: number },
  ): void {
    const place = this.#of.places.get(key);
    if (place === undefined) throw unknownKey(this.#of, key);
    if (typeof choice === "boolean") {
      this.wanted[place] = choice ? 1 : 0;
      return;
    }
    const { type } = this.#of.keys[place]!;
    if (!type.isList || typeof choice?.start !== "number") {
      throw new TypeError(
        "A mask must have " +
          `${
            type.isList ? "true, false or { start, stop }" : "true or false"
          } ` + `for '${key}' of ${this.#of.path}`,
      );
    }
    clippedCount(choice.start, choice.stop, 0);
    this.wanted[place] = 1;
    this.start[place] = choice.start;
    this.stop[place] = choice.stop;
  }
}

export function unknownKey(
  { path, keys }: Pick<Keys, "path" | "keys">,
  key: string,
): RecordfsError {
  const names = keys.map((known) => `'${known.key}'`).join(", ");
  return new RecordfsError(
    "unknown-key",
    `Cannot read '${key}' of ${path}: there is no such key, only ` + `${names}`,
    { path, actual: key },
  );
}

function isList(mask: Mask): mask is readonly string[] {
  return Array.isArray(mask);
}

/** Counts those of `length` items that a range covers, clipped as in Python. Throws a `RangeError` if it is invalid. */
export function clippedCount(
  start: number,
  stop: number,
  length: number,
): number {
  const isRange = Number.isSafeInteger(start) && start >= 0 && stop >= start &&
    (Number.isSafeInteger(stop) || stop === Infinity);
  if (!isRange) {
    throw new RangeError(
      "A range must go from a whole number to one that is not smaller, not from " +
        `${start} to ${stop}`,
    );
  }
  return Math.max(0, Math.min(stop, length) - start);
}
