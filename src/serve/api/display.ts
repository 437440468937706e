import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
} from "../../codecs/msgpack/mod.ts";
import { isNdArray } from "../../codecs/numpy/array_bytes.ts";
import { elementCount } from "../../codecs/numpy/nd_array.ts";
import { displayNumbers, dtypeWord } from "./array_value.ts";
import type { Display, DisplayMarker } from "./value_messages.ts";

export interface DisplayLimits {
  /** Values at all depths. Each takes a line on the screen. */
  readonly values: number;
  /** Entries of one list or object. */
  readonly entries: number;
  readonly depth: number;
  /** Characters of one text. */
  readonly text: number;
  /** Characters of all texts together. Each text may have {@linkcode LEAST_TEXT} beyond this limit. */
  readonly characters: number;
  readonly numbers: number;
}

/** Limits for a value on its own page. */
export const WHOLE: DisplayLimits = {
  values: 20_000,
  entries: 1000,
  depth: 64,
  text: 65_536,
  characters: 1 << 20,
  numbers: 1024,
};

/** Limits for a value in a table cell. */
export const CELL: DisplayLimits = {
  values: 64,
  entries: 64,
  depth: 4,
  text: 1024,
  characters: 4096,
  numbers: 64,
};

/** Characters shown of a text after the total is used up. */
const LEAST_TEXT = 64;
/** Bytes shown of a value among others. */
const MOST_BYTES = 1024;
/** Estimated characters of a number of an array. */
const NUMBER_LENGTH = 8;

export interface ShownTree {
  readonly value: Display;
  readonly isCut: boolean;
}

/** Converts scalar values to JSON within the character limit. */
export class Leaves {
  isCut = false;
  readonly #limits: DisplayLimits;
  #left: number;

  constructor(limits: DisplayLimits) {
    this.#limits = limits;
    this.#left = limits.characters;
  }

  /** Converts a decoded value, skipping `from` characters, bytes or numbers; `undefined` if it is among others. */
  value(value: unknown, from: number | undefined): Display {
    if (value === null || value === undefined) return null;
    if (typeof value === "boolean") return value;
    if (typeof value === "number") return numberOf(value);
    if (typeof value === "bigint") return this.digits(digitsOf(value), from);
    if (typeof value === "string") return this.text(value, from);
    if (typeof value !== "object") return other(typeof value, String(value));
    if (value instanceof Uint8Array) return this.#bytes(value, from);
    if (value instanceof MsgpackFloat) return numberOf(value.value);
    if (value instanceof MsgpackTimestamp) {
      return other(
        "timestamp",
        `${value.seconds}.${String(value.nanoseconds).padStart(9, "0")}`,
      );
    }
    if (value instanceof MsgpackExt) {
      const { type, data } = value;
      return mark({
        ...{ $: "other", type: `extension ${type}`, text: "" },
        content: this.#bytes(data, from),
      });
    }
    if (isNdArray(value)) {
      const { shape, dtype } = value;
      const room = Math.floor(
        this.#take(this.#limits.numbers * NUMBER_LENGTH, Infinity) /
          NUMBER_LENGTH,
      );
      const data = displayNumbers(value, room, from);
      if (data.length < elementCount(shape)) this.isCut = true;
      return mark({ $: "array", shape, dtype: dtypeWord(dtype), data });
    }
    throw new TypeError(
      `Cannot show a ${value.constructor?.name}: it has entries`,
    );
  }

  text(text: string, from = 0): Display {
    const part = this.#part(text, from);
    return part.length === text.length
      ? text
      : this.#cut(part.toWellFormed(), text.length);
  }

  /** Converts an integer beyond the safe range from its digits. */
  digits(digits: string, from = 0): Display {
    const part = this.#part(digits, from);
    const shown = mark({ $: "integer", digits: part });
    return part.length === digits.length
      ? shown
      : this.#cut(shown, digits.length);
  }

  #part(text: string, from: number): string {
    const length = Math.max(0, text.length - from);
    let end = from + this.#take(length, this.#limits.text);
    // Does not split a surrogate pair, unless there is room for one unit only.
    const isHalf = end < text.length && end - from > 1 &&
      text.codePointAt(end - 1)! > 0xffff;
    if (isHalf) end--;
    return from === 0 && end >= text.length ? text : text.slice(from, end);
  }

  #bytes(bytes: Uint8Array, from: number | undefined): Display {
    const most = from === undefined ? MOST_BYTES : this.#limits.text;
    const start = from ?? 0;
    const length = Math.max(0, bytes.length - start);
    const part = bytes.slice(start, start + this.#take(length, most));
    if (part.length < bytes.length) this.isCut = true;
    return mark({ $: "bytes", size: bytes.length, base64: part.toBase64() });
  }

  /** Reserves up to `wanted` characters of the remaining budget. */
  #take(wanted: number, most: number): number {
    const room = Math.min(wanted, most, Math.max(LEAST_TEXT, this.#left));
    this.#left -= room;
    return room;
  }

  #cut(shown: Display, length: number): Display {
    this.isCut = true;
    return mark({ $: "cut", shown, length });
  }
}

/** Formats an integer; in hex if it exceeds 4,096 bits, because decimal conversion is slow. */
function digitsOf(value: bigint): string {
  if (BigInt.asIntN(4096, value) === value) return String(value);
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Escapes a key: `$` introduces markers. */
export function shownKey(key: string): string {
  const name = key.toWellFormed();
  return name.startsWith("$") ? `$${name}` : name;
}

/** Returns the number, or a marker if JSON cannot represent it. */
export function numberOf(value: number): Display {
  if (Number.isNaN(value)) return mark({ $: "float", text: "NaN" });
  if (value === Infinity) return mark({ $: "float", text: "Infinity" });
  if (value === -Infinity) return mark({ $: "float", text: "-Infinity" });
  if (Object.is(value, -0)) return mark({ $: "float", text: "-0" });
  return value;
}

/** Formats a scalar as a word: `null` for a null, `undefined` unless it is a string, number or boolean. */
export function wordOf(value: Display): string | null | undefined {
  if (value === null || typeof value !== "object") {
    return value === null ? null : String(value);
  }
  const marker = markerOf(value);
  switch (marker?.$) {
    case "integer":
      return marker.digits;
    case "float":
      return marker.text;
    case "other":
      return marker.content === undefined ? marker.text : undefined;
    default:
      return undefined;
  }
}

/** Returns a value's marker, if any. Object keys that begin with `$` are escaped by another `$`. */
export function markerOf(value: Display): DisplayMarker | undefined {
  return value !== null && typeof value === "object" && "$" in value
    ? value as DisplayMarker
    : undefined;
}

/** Returns the entries of an object in display form, even if truncated; none if it is not an object. */
export function entriesOf(value: Display): [key: string, value: Display][] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return [];
  }
  const marker = markerOf(value);
  switch (marker?.$) {
    case undefined:
      return Object.entries(value).map(([key, each]) => [
        key.startsWith("$$") ? key.slice(1) : key,
        each,
      ]);
    case "cut":
      return entriesOf(marker.shown);
    case "object":
      return marker.pairs.flatMap(([key, each]) =>
        typeof key === "string" ? [[key, each!]] : []
      );
    default:
      return [];
  }
}

function other(type: string, text: string): Display {
  return mark({ $: "other", type, text });
}

export function mark(marker: DisplayMarker): Display {
  return { ...marker };
}
