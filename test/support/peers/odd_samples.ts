/** Samples with values at the limits of each MDS encoding, and the same values in Python. */
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import type { MDSInput } from "../../../src/formats/mds/write/mds_writer.ts";
import {
  array,
  bytes,
  dict,
  float,
  int,
  type PythonSample,
  type PythonValue,
} from "./python_values.ts";

/** Encoding of a field, and its values in JavaScript and Python. */
interface OddField {
  readonly encoding: string;
  readonly values: readonly (readonly [MDSInput, PythonValue])[];
}

const ints = (
  encoding: string,
  ...values: (number | bigint)[]
): OddField => ({ encoding, values: values.map((n) => [n, int(n)]) });
const floats = (encoding: string, ...values: number[]): OddField => ({
  encoding,
  values: values.map((n) => [n, float(n)]),
});
const texts = (...values: string[]): OddField => ({
  encoding: "str",
  values: values.map((text) => [text, text]),
});

/** Fields by name, with three values each. */
const FIELDS: Readonly<Record<string, OddField>> = {
  int: ints("int", -(2n ** 63n), 2n ** 63n - 1n, 0),
  int8: ints("int8", -128, 127, 0),
  int16: ints("int16", -(2 ** 15), 2 ** 15 - 1, -1),
  int32: ints("int32", -(2 ** 31), 2 ** 31 - 1, 1),
  int64: ints("int64", -(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n),
  uint8: ints("uint8", 0, 255, 128),
  uint16: ints("uint16", 0, 2 ** 16 - 1, 1),
  uint32: ints("uint32", 0, 2 ** 32 - 1, 2 ** 31),
  uint64: ints("uint64", 2n ** 63n, 2n ** 64n - 1n, 1),
  huge: ints("str_int", 10n ** 30n, -(10n ** 30n), 0),
  half: floats("float16", 1, NaN, -0),
  float: floats("float32", 1, Infinity, -0),
  double: floats("float64", 1, -Infinity, 0.1),
  digits: floats("str_float", 1, NaN, -0),
  words: texts("", "häß ☃ 🦊\0", 'a\nb"c\\'),
  blob: {
    encoding: "bytes",
    values: [[], [0, 255], [0xef, 0xbb, 0xbf]].map((list) => {
      const value = Uint8Array.from(list);
      return [value, bytes(value)];
    }),
  },
  grid: {
    encoding: "ndarray",
    values: [
      [
        { data: Float16Array.of(1, NaN, -0, 0.5), shape: [2, 2] },
        array("<f2", [2, 2], Float16Array.of(1, NaN, -0, 0.5)),
      ],
      [
        { data: BigInt64Array.of(-(2n ** 63n)), shape: [1, 1, 1] },
        array("<i8", [1, 1, 1], BigInt64Array.of(-(2n ** 63n))),
      ],
      [
        { data: Uint8Array.of(1, 2, 3), shape: [3] },
        array("|u1", [3], Uint8Array.of(1, 2, 3)),
      ],
    ],
  },
  flag: {
    encoding: "json",
    values: [[true, true], [false, false], [null, null]],
  },
  tree: {
    encoding: "json",
    values: [
      [
        { a: [1, { b: [] }, null], "c/d": { "": "ü" }, e: [[], [[]]] },
        dict({
          a: [int(1), dict({ b: [] }), null],
          "c/d": dict({ "": "ü" }),
          e: [[], [[]]],
        }),
      ],
      [[], []],
      // Floats stay floats, and 64-bit integers stay exact.
      [
        new TextEncoder().encode(
          "[1.0, -0.0, NaN, Infinity, 9007199254740993, -9223372036854775808]",
        ),
        [
          ...[float(1), float(-0), float(NaN), float(Infinity)],
          ...[int(2n ** 53n + 1n), int(-(2n ** 63n))],
        ],
      ],
    ],
  },
  "a/b": ints("int", 1, 2, 3),
  "jpg": texts("of a name that says a picture", "", "x"),
};

/** The samples in Python. */
export const ODD_SAMPLES: readonly PythonSample[] = [0, 1, 2].map((i) =>
  Object.fromEntries(
    Object.entries(FIELDS).map(([name, { values }]) => [name, values[i]![1]]),
  )
);

/** Writes the samples as MDS. */
export async function writeOddSamples(path: string): Promise<void> {
  const columns = Object.fromEntries(
    Object.entries(FIELDS).map(([name, { encoding }]) => [name, encoding]),
  );
  await using writer = await MDSWriter.open(path, { columns });
  for (const i of ODD_SAMPLES.keys()) {
    await writer.write(
      Object.fromEntries(
        Object.entries(FIELDS).map((
          [name, { values }],
        ) => [name, values[i]![0]]),
      ),
    );
  }
  await writer.close();
}
