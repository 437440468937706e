import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
} from "../../codecs/msgpack/mod.ts";
import { isNdArray } from "../../codecs/numpy/array_bytes.ts";
import { elementCount } from "../../codecs/numpy/nd_array.ts";
import { displayNumbers } from "./array_value.ts";
import type { Display, DisplayMarker } from "./value_messages.ts";

/** How much of a value is shown. */
export interface DisplayLimits {
  /** Values of all depths, each of which is a line on a screen. */
  readonly values: number;
  /** Lists in lists. */
  readonly depth: number;
  /** Characters of a text, and bytes of others. */
  readonly text: number;
  /** Numbers of an array. */
  readonly numbers: number;
}

/** Of a value that is looked at by itself. */
export const WHOLE: DisplayLimits = {
  values: 20_000,
  depth: 64,
  text: 65_536,
  numbers: 1024,
};

/** Of one that stands in a table. */
export const CELL: DisplayLimits = {
  values: 64,
  depth: 4,
  text: 256,
  numbers: 64,
};

/** A value as it is shown. */
export interface ShownTree {
  readonly value: Display;
  /** Whether something was left out of it. */
  readonly isCut: boolean;
}

/** A decoded value as JSON of bounded size, with marks for what JSON has not. */
export class Displayed implements ShownTree {
  /** What is shown. */
  readonly value: Display;
  /** Whether something was left out. */
  isCut = false;
  readonly #limits: DisplayLimits;
  #left: number;
  /** What the value that is looked at is in: a pickle can hold itself. */
  readonly #above = new Set<unknown>();

  constructor(value: unknown, limits: DisplayLimits) {
    this.#limits = limits;
    this.#left = limits.values;
    this.value = this.#show(value);
  }

  #show(value: unknown): Display {
    this.#left--;
    if (value === null || value === undefined) return null;
    if (typeof value === "boolean") return value;
    if (typeof value === "number") return numberOf(value);
    if (typeof value === "bigint") {
      return mark({ $: "integer", digits: this.#digits(value) });
    }
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object") return other(typeof value, String(value));
    if (value instanceof Uint8Array) return this.#bytes(value);
    if (value instanceof MsgpackFloat) return numberOf(value.value);
    if (value instanceof MsgpackTimestamp) {
      return other(
        "timestamp",
        `${value.seconds}.${String(value.nanoseconds).padStart(9, "0")}`,
      );
    }
    if (value instanceof MsgpackExt) {
      return other(`extension ${value.type}`, `${value.data.length} bytes`);
    }
    if (isNdArray(value)) {
      const { shape, dtype } = value;
      const data = displayNumbers(value, this.#limits.numbers);
      if (data.length < elementCount(shape)) this.isCut = true;
      return mark({ $: "array", shape, dtype, data });
    }
    return this.#container(value);
  }

  #container(value: object): Display {
    if (this.#above.has(value) || this.#above.size >= this.#limits.depth) {
      this.isCut = true;
      return mark({ $: "deep" });
    }
    this.#above.add(value);
    try {
      if (Array.isArray(value)) return this.#list(value, value.length);
      if (value instanceof Set) return this.#list(value, value.size);
      if (value instanceof Map) return this.#map(value);
      return this.#object(Object.entries(value));
    } finally {
      this.#above.delete(value);
    }
  }

  #list(items: Iterable<unknown>, length: number): Display {
    const shown: Display[] = [];
    for (const item of items) {
      if (this.#left <= 0) return this.#cut(shown, length);
      shown.push(this.#show(item));
    }
    return shown;
  }

  #map(map: ReadonlyMap<unknown, unknown>): Display {
    const keys = [...map.keys()];
    if (keys.every((key) => typeof key === "string")) {
      return this.#object([...map as ReadonlyMap<string, unknown>]);
    }
    const pairs: Display[][] = [];
    for (const [key, value] of map) {
      if (this.#left <= 0) {
        return this.#cut(mark({ $: "map", pairs }), map.size);
      }
      pairs.push([this.#show(key), this.#show(value)]);
    }
    return mark({ $: "map", pairs });
  }

  #object(entries: readonly [string, unknown][]): Display {
    const shown: [string, Display][] = [];
    const whole = () => Object.fromEntries(shown); // which takes `__proto__` for a key
    for (const [key, value] of entries) {
      if (this.#left <= 0) return this.#cut(whole(), entries.length);
      shown.push([shownKey(key, this.#limits), this.#show(value)]);
    }
    return whole();
  }

  #text(text: string): Display {
    return text.length <= this.#limits.text
      ? text
      : this.#cut(text.slice(0, this.#limits.text).toWellFormed(), text.length);
  }

  #bytes(bytes: Uint8Array): Display {
    const most = Math.min(this.#limits.text, 1024);
    if (bytes.length > most) this.isCut = true;
    const base64 = bytes.slice(0, most).toBase64();
    return mark({ $: "bytes", size: bytes.length, base64 });
  }

  #digits(value: bigint): string {
    // Numbers of many digits take long to write: these have no more than the value has room for.
    const digits = BigInt.asIntN(4096, value) === value
      ? String(value)
      : `0x${value.toString(16)}`;
    if (digits.length <= this.#limits.text) return digits;
    this.isCut = true;
    return `${digits.slice(0, this.#limits.text)}…`;
  }

  #cut(shown: Display, length: number): Display {
    this.isCut = true;
    return mark({ $: "cut", shown, length });
  }
}

/** A key as it is shown: `$` begins marks. */
export function shownKey(key: string, { text }: DisplayLimits): string {
  const name = key.slice(0, text).toWellFormed();
  return name.startsWith("$") ? `$${name}` : name;
}

/** A number, or the mark for one that JSON has not. */
export function numberOf(value: number): Display {
  if (Number.isNaN(value)) return mark({ $: "float", text: "NaN" });
  if (value === Infinity) return mark({ $: "float", text: "Infinity" });
  if (value === -Infinity) return mark({ $: "float", text: "-Infinity" });
  return value;
}

function other(type: string, text: string): Display {
  return mark({ $: "other", type, text });
}

/** Marks are JSON as all else is. */
export function mark(marker: DisplayMarker): Display {
  return { ...marker };
}
