/** The datasets that an independent writer made of the description of MDS, and what it put into them. */
import assert from "node:assert/strict";
import type { FieldValue } from "../../../src/tree/field_shards/decode.ts";
import { goldenSet } from "../golden.ts";

/**
 * A value as `expect.json` describes it: a number or text as text, an array, what JSON says, a list of values, of a
 * picture its size; or its bytes alone.
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

/** One case. */
export const mdsCase = GOLDENS.one;

/** All cases. */
export const mdsCases = GOLDENS.all;

/** Compares a decoded value with what was written; of pictures and bytes it is told from their bytes. */
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

/** A number, or a truth value as one, as Python's `str` writes it. */
function pythonNumber(text: string): number {
  if (text === "True" || text === "False") return Number(text === "True");
  return Number(text.replace("inf", "Infinity"));
}

/** What pickles give, as JSON has it. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]));
  }
  return Array.isArray(value) ? value.map(plain) : value;
}
