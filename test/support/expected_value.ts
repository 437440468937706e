// deno-lint-ignore-file camelcase -- the keys of expect.json
/** Compares values with `expect.json`. */
import assert from "node:assert/strict";
import {
  encodeArray,
  isNdArray,
  swapBytes,
} from "../../src/codecs/numpy/array_bytes.ts";
import { parseDtype } from "../../src/codecs/numpy/dtype.ts";
import type { AlphaImage } from "../../src/codecs/image/mod.ts";
import { sha256 } from "./golden.ts";

interface Special {
  readonly $int?: string;
  readonly $float?: "nan" | "inf" | "-inf";
  readonly $bytes?: { size: number; sha256: string; hex?: string };
  readonly $array?: {
    dtype: string;
    shape: number[];
    sha256: string;
    values?: unknown[];
  };
  readonly $image?: { shape: number[]; pixels_sha256?: string };
  readonly $map?: [unknown, unknown][];
}

const FLOATS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** Asserts that `value` is as expected, in the form of the golden sets. */
export function assertExpected(value: unknown, expected: unknown): void {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(value), `${value} is no list`);
    assert.equal(value.length, expected.length);
    expected.forEach((item, i) => assertExpected(value[i], item));
    return;
  }
  if (typeof expected !== "object" || expected === null) {
    return assert.deepStrictEqual(value, expected);
  }
  const { $int, $float, $bytes, $array, $image, $map } = expected as Special;
  if ($int !== undefined) assert.strictEqual(value, BigInt($int));
  else if ($float !== undefined) assert.strictEqual(value, FLOATS[$float]);
  else if ($bytes !== undefined) {
    assert.ok(value instanceof Uint8Array);
    assert.deepEqual([value.length, sha256(value)], [
      $bytes.size,
      $bytes.sha256,
    ]);
  } else if ($array !== undefined) assertArray(value, $array);
  else if ($image !== undefined) assertImage(value as AlphaImage, $image);
  else assertMap(value, $map ?? Object.entries(expected));
}

function assertMap(value: unknown, expected: [unknown, unknown][]): void {
  const entries = value instanceof Map
    ? [...value]
    : Object.entries(value as object);
  assert.equal(entries.length, expected.length);
  expected.forEach(([key, item], i) => {
    assertExpected(entries[i]![0], key);
    assertExpected(entries[i]![1], item);
  });
}

function assertArray(
  value: unknown,
  { dtype, shape, sha256: sum, values }: Required<Special>["$array"],
): void {
  assert.ok(isNdArray(value), `${value} is no array`);
  const { name, bigEndian, unitSize } = parseDtype(dtype);
  assert.deepEqual([value.dtype, value.shape], [name, shape]);
  const bytes = encodeArray(value).elements.slice();
  assert.equal(sha256(bigEndian ? swapBytes(bytes, unitSize) : bytes), sum);
  values?.forEach((item, i) => {
    const element = value.data[i];
    assertExpected(dtype === "|b1" ? element === 1 : number(element), item);
  });
}

/** `expect.json` has 64-bit integers in the safe range as plain numbers. */
function number(element: unknown): unknown {
  const isSmall = typeof element === "bigint" &&
    Number.isSafeInteger(Number(element));
  return isSmall ? Number(element) : element;
}

function assertImage(
  { data, height, width, channels }: AlphaImage,
  { shape, pixels_sha256 }: Required<Special>["$image"],
): void {
  assert.deepEqual(
    channels === 1 ? [height, width] : [height, width, channels],
    shape,
  );
  assert.equal(data.length, height * width * channels);
  if (pixels_sha256 !== undefined) assert.equal(sha256(data), pixels_sha256);
}
