import { elementCount, type NdArray } from "../../codecs/numpy/nd_array.ts";
import type { ArrayValue, DisplayNumber } from "./value_messages.ts";

/** Maximum number of elements in statistics: more would delay other requests. */
const MOST_COUNTED = 1 << 22;
const BINS = 64;

/** NumPy's names of its type codes. */
const WORDS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  b: "bool",
  i: "int",
  u: "uint",
  f: "float",
  c: "complex",
};

/** Describes an array with up to `most` numbers; larger ones show every second, fourth, … row and column. */
export function arrayValue(array: NdArray, most: number): ArrayValue {
  const { shape, dtype } = array;
  const { shown, steps } = thinned(shape, most);
  const data: DisplayNumber[] = [];
  const numberAt = elementsOf(array);
  for (const at of places(shape, shown, steps)) data.push(numberAt(at));
  return {
    kind: "array",
    shape,
    dtype: dtypeWord(dtype),
    shownShape: shown,
    data,
    steps,
    ...statisticsOf(array),
  };
}

export function displayNumbers(
  array: NdArray,
  most: number,
  from = 0,
): readonly DisplayNumber[] {
  const numberAt = elementsOf(array);
  const left = Math.max(0, elementCount(array.shape) - from);
  const length = Math.min(left, most);
  return Array.from({ length }, (_, i) => numberAt(from + i));
}

/** Returns NumPy's name of an element type, such as `float32` for `<f4`. */
export function dtypeWord(dtype: string): string {
  const [, kind, size] = /^[<>|]([a-zA-Z])(\d+)$/.exec(dtype) ?? [];
  const word = WORDS[kind ?? ""];
  if (word === undefined) return dtype;
  return word === "bool" ? word : `${word}${Number(size) * 8}`;
}

/** Returns the elements to show per dimension, and the steps: halves the longest until there are few enough. */
function thinned(
  shape: readonly number[],
  most: number,
): { readonly shown: number[]; readonly steps: number[] } {
  const steps = shape.map(() => 1);
  const shownOf = () => shape.map((length, i) => Math.ceil(length / steps[i]!));
  let shown = shownOf();
  while (elementCount(shown) > Math.max(most, 1)) {
    const longest = shown.indexOf(Math.max(...shown));
    steps[longest]! *= 2;
    shown = shownOf();
  }
  return { shown, steps };
}

/** Yields the indices of the shown elements, in C order. */
function* places(
  shape: readonly number[],
  shown: readonly number[],
  steps: readonly number[],
): Generator<number> {
  const count = elementCount(shown);
  const index = shape.map(() => 0);
  for (let done = 0; done < count; done++) {
    let at = 0;
    for (let axis = 0; axis < shape.length; axis++) {
      at = at * shape[axis]! + index[axis]! * steps[axis]!;
    }
    yield at;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      if (++index[axis]! < shown[axis]!) break;
      index[axis] = 0;
    }
  }
}

/** Returns a function from an element's index in C order to its JSON form. */
function elementsOf(
  { dtype, data, shape }: NdArray,
): (at: number) => DisplayNumber {
  const kind = dtype[1];
  if (kind === "b") return (at) => data[at] !== 0;
  if (kind === "c") {
    return (at) => `${word(data[2 * at])}${signed(data[2 * at + 1])}j`;
  }
  if (kind === "S" || kind === "V") {
    const bytes = data as Uint8Array;
    const size = bytes.length / Math.max(elementCount(shape), 1);
    return (at) => {
      const element = bytes.subarray(at * size, (at + 1) * size);
      return kind === "V" ? element.toHex() : latin(element);
    };
  }
  return (at) => jsonNumber(data[at]!);
}

/** Decodes bytes as Latin-1, without trailing zeros. */
function latin(bytes: Uint8Array): string {
  const text = [...bytes].map((byte) => String.fromCharCode(byte)).join("");
  return text.replace(/\0+$/, "");
}

function signed(value: unknown): string {
  const text = word(value);
  return text.startsWith("-") ? text : `+${text}`;
}

/** Formats a number, with the sign of a negative zero. */
function word(value: unknown): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function jsonNumber(value: number | bigint | string): DisplayNumber {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") {
    if (Object.is(value, -0)) return "-0";
    return Number.isFinite(value) ? value : String(value);
  }
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

type Statistics = Pick<
  ArrayValue,
  "counted" | "histogram" | "max" | "mean" | "min" | "notFinite"
>;

/** Computes statistics of numeric arrays; other types have none. Large arrays are sampled at a regular step. */
function statisticsOf({ dtype, data, shape }: NdArray): Statistics {
  const isOfNumbers = "biuf".includes(dtype[1]!);
  const count = isOfNumbers ? elementCount(shape) : 0;
  const step = Math.ceil(count / MOST_COUNTED) || 1;
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  let counted = 0;
  let finite = 0;
  for (let at = 0; at < count; at += step) {
    const value = Number(data[at]);
    counted++;
    if (!Number.isFinite(value)) continue;
    finite++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (finite === 0) {
    const none = { min: null, max: null, mean: null, histogram: null };
    return { ...none, notFinite: counted, counted };
  }
  const counts = new Array<number>(BINS).fill(0);
  // Halved, because the difference of the largest numbers overflows.
  const half = max / 2 - min / 2;
  for (let at = 0; at < count; at += step) {
    const value = Number(data[at]);
    if (!Number.isFinite(value)) continue;
    const share = half === 0 ? 0 : (value / 2 - min / 2) / half;
    counts[Math.min(Math.floor(share * BINS), BINS - 1)]!++;
  }
  const edges = Array.from(
    { length: BINS + 1 },
    (_, i) => i === BINS ? max : min + half * (2 * i / BINS),
  );
  const mean = sum / finite;
  return {
    min,
    max,
    mean: Number.isFinite(mean) ? mean : null,
    histogram: { edges, counts },
    notFinite: counted - finite,
    counted,
  };
}
