/**
 * The MDS datasets that a writer independent of ours made by the format's description, and the values that it wrote.
 */
import assert from "node:assert/strict";
import type { FieldValue } from "../../../src/tree/field_shards/decode.ts";
import { goldenSet } from "../golden.ts";

/**
 * A value as `expect.json` describes it: a number or text as text, an array, JSON, a list of values, or a picture's
 * size. `null` if only its bytes are known.
 */
export interface ExpectedMdsValue {
  readonly encoding: string;
  readonly size: number;
  readonly sha256: string;
  readonly value:
    | null
    | string
    | { readonly json: unknown }
    | { readonly list: readonly ExpectedMdsValue[] }
    | { readonly width: number; readonly height: number }
    | {
      readonly dtype: string;
      readonly shape: readonly number[];
      readonly values: readonly string[];
    };
}

/** `expect.json` of one case. */
export interface MdsCase {
  readonly name: string;
  /** Path of the directory. */
  readonly path: string;
  readonly content: {
    readonly samples: readonly Readonly<Record<string, ExpectedMdsValue>>[];
  };
}

const GOLDENS = goldenSet<MdsCase>("mds");

/** Reads one case. */
export const mdsCase = GOLDENS.one;

/** Reads all cases. */
export const mdsCases = GOLDENS.all;

/**
 * Compares a decoded value with the written one. For pictures, compares the size; values without a description are
 * skipped.
 */
export function assertValue(
  actual: FieldValue | undefined,
  { encoding, value }: ExpectedMdsValue,
): void {
  if (value === null) return;
  if (typeof value === "string") {
    const isText = encoding === "str" || encoding === "str_decimal";
    if (isText) return assert.equal(actual, value);
    return assert.deepEqual(Number(actual), pythonNumber(value), value);
  }
  if ("json" in value) return assert.deepEqual(plain(actual), value.json);
  if ("list" in value) {
    assert.ok(Array.isArray(actual));
    assert.equal(actual.length, value.list.length);
    for (const [i, element] of value.list.entries()) {
      assertValue(actual[i] as FieldValue, element);
    }
    return;
  }
  if ("width" in value) {
    const { width, height } = actual as typeof value;
    return assert.deepEqual({ width, height }, value);
  }
  const { dtype, shape, data } = actual as {
    dtype: string;
    shape: readonly number[];
    data: ArrayLike<number | bigint>;
  };
  assert.equal(dtype, value.dtype);
  assert.deepEqual(shape, value.shape);
  assert.deepEqual(
    Array.from(data, Number),
    value.values.map(pythonNumber),
  );
}

/** Parses a number or boolean that Python's `str` wrote; booleans become 0 or 1. */
function pythonNumber(text: string): number {
  if (text === "True" || text === "False") return Number(text === "True");
  return Number(text.replace("inf", "Infinity"));
}

/** Returns the value of a pickle as JSON has it. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]));
  }
  return Array.isArray(value) ? value.map(plain) : value;
}
