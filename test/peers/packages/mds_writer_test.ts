/** Output of MDSWriter as MosaicML's Streaming reads it, in every encoding that both support. */
import assert from "node:assert/strict";
import { encodePng } from "../../../src/codecs/image/encode_png.ts";
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import type { MDSInput } from "../../../src/formats/mds/write/mds_writer.ts";
import { ENCODING_NAMES } from "../../../src/formats/mds/encodings/encoding.ts";
import { testImage } from "../../support/images.ts";
import { streamingSamples } from "../../support/peers/python_readers.ts";
import {
  array,
  bytes,
  dict,
  float,
  int,
  picture,
  pixels,
  type PythonValue,
  scalar,
} from "../../support/peers/python_values.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs, PEERS_PYTHON } from "../../support/programs/programs.ts";
import { pythonLines } from "../../support/programs/python.ts";
import { jpegA, jpegB, utf8 } from "../../support/typed_samples.ts";

/** Values of a column, each with the value that Streaming reads. */
type Values = readonly (readonly [MDSInput, PythonValue])[];

const same = (...values: (string | boolean | null)[]): Values =>
  values.map((value) => [value, value]);
const ints = (...values: (number | bigint)[]): Values =>
  values.map((value) => [value, int(value)]);
const floats = (...values: number[]): Values =>
  values.map((value) => [value, float(value)]);
const blobs = (...values: Uint8Array[]): Values =>
  values.map((value) => [value, bytes(value)]);
const files = (format: string, ...values: Uint8Array[]): Values =>
  values.map((value) => [value, picture(format, value)]);
const lists = (format: string, ...values: Uint8Array[][]): Values =>
  values.map((list) => [list, list.map((file) => picture(format, file))]);

type Numbers =
  | (typeof Int8Array | typeof Int16Array | typeof Int32Array)
  | (typeof Uint8Array | typeof Uint16Array | typeof Uint32Array)
  | (typeof Float16Array | typeof Float32Array | typeof Float64Array);

function scalars(dtype: string, kind: Numbers, ...values: number[]): Values {
  return values.map((value) => [value, scalar(dtype, kind.of(value))]);
}

function arrays(
  ...values: [dtype: string, shape: number[], data: MDSInput][]
): Values {
  return values.map(([dtype, shape, data]) => [
    { dtype, shape, data } as MDSInput,
    array(dtype, shape, data as ArrayBufferView),
  ]);
}

/** Encodes pixels as `pil` stores them: width, height, length of the mode, the mode, and the pixels. */
function pil(mode: string, width: number, height: number, data: Uint8Array) {
  const head = Uint32Array.of(width, height, mode.length);
  const parts = [new Uint8Array(head.buffer), utf8(mode), data];
  const stored = Uint8Array.from(parts.flatMap((part) => [...part]));
  return [stored, pixels(mode, [width, height], data)] as const;
}

const png = await encodePng(testImage(5, 4));
const other = await encodePng(testImage(3, 7, 1));
const [rgb, bits, grey] = [
  pil("RGB", 3, 2, Uint8Array.from({ length: 18 }, (_, i) => 14 * i)),
  pil("1", 10, 2, Uint8Array.of(0b10110000, 0b01000000, 1, 128)),
  pil("L", 1, 3, Uint8Array.of(0, 127, 255)),
];

const BIG = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const FLOATS = [1, -0, NaN, Infinity, -Infinity, 0.5] as const;

/** Columns by encoding. */
const COLUMNS: Readonly<Record<string, Values>> = {
  bytes: blobs(Uint8Array.of(), Uint8Array.of(0, 255), utf8("abc")),
  str: same("", "häß ☃ 🦊", 'a\nb"c', "\0", "\ufeffx"),
  int: ints(BIG.least, BIG.most, 0, -1, 2n ** 53n + 1n),
  int8: scalars("|i1", Int8Array, -128, 127, 0),
  int16: scalars("<i2", Int16Array, -(2 ** 15), 2 ** 15 - 1, 0),
  int32: scalars("<i4", Int32Array, -(2 ** 31), 2 ** 31 - 1, 0),
  int64: [BIG.least, BIG.most].map((n) => [
    n,
    scalar("<i8", BigInt64Array.of(n)),
  ]),
  uint8: scalars("|u1", Uint8Array, 0, 255),
  uint16: scalars("<u2", Uint16Array, 0, 2 ** 16 - 1),
  uint32: scalars("<u4", Uint32Array, 0, 2 ** 32 - 1),
  uint64: [0n, 2n ** 64n - 1n].map((n) => [
    n,
    scalar("<u8", BigUint64Array.of(n)),
  ]),
  float16: scalars("<f2", Float16Array, ...FLOATS),
  float32: scalars("<f4", Float32Array, ...FLOATS),
  float64: scalars("<f8", Float64Array, ...FLOATS, 0.1),
  "str_int": ints(10n ** 30n, -(10n ** 30n), 0, -5),
  "str_float": floats(...FLOATS, 0.1, 1e300, 5e-324),
  "str_decimal": ["1.10", "-0.001", "12345678901234567890.5"]
    .map((text) => [text, { decimal: text }]),
  ndarray: arrays(
    ["|u1", [2, 3], Uint8Array.of(1, 2, 3, 4, 5, 255)],
    ["|i1", [1], Int8Array.of(-1)],
    ["<u2", [2], Uint16Array.of(1, 65535)],
    ["<i2", [2], Int16Array.of(1, -32768)],
    ["<f2", [2], Float16Array.of(NaN, -0)],
    ["<u4", [2], Uint32Array.of(1, 2 ** 32 - 1)],
    ["<i4", [300, 1], Int32Array.from({ length: 300 }, (_, i) => -i)],
    ["<f4", [1, 2, 1], Float32Array.of(1.5, Infinity)],
    ["<u8", [1], BigUint64Array.of(2n ** 64n - 1n)],
    ["<i8", [1], BigInt64Array.of(BIG.least)],
    ["<f8", [70_000], new Float64Array(70_000).fill(0.1)],
  ),
  "ndarray:float32": arrays(
    ["<f4", [2, 1], Float32Array.of(1, -0)],
    ["<f4", [3], Float32Array.of(1, 2, 3)],
  ),
  "ndarray:int16:2,3": arrays(
    ["<i2", [2, 3], Int16Array.of(1, 2, 3, 4, 5, -6)],
  ),
  jpeg: files("JPEG", jpegA, jpegB),
  png: files("PNG", png, other),
  pil: [rgb, bits, grey],
  pkl: [[
    // Protocol 2 of (1, "a"): two items on the stack, combined into a tuple.
    Uint8Array.from([0x80, 2, 0x4b, 1, 0x58, 1, 0, 0, 0, 0x61, 0x86, 0x2e]),
    { tuple: [int(1), "a"] },
  ]],
  json: [
    ...same(null, true, false, "", "ä"),
    [1, int(1)],
    [0.5, float(0.5)],
    [[], []],
    [{}, dict({})],
    [
      { a: [1, [], { "b/c": null }], "ü": "x" },
      dict({ a: [int(1), [], dict({ "b/c": null })], "ü": "x" }),
    ],
    // Bytes are stored unchanged.
    [utf8("[NaN, -0.0, 1.0]"), [float(NaN), float(-0), float(1)]],
  ],
  "list[jpeg]": lists("JPEG", [], [jpegA], [jpegA, jpegB, jpegA]),
  "list[png]": lists("PNG", [], [png], [png, other]),
  "list[pil]": [[[], []], [
    [rgb[0], bits[0], grey[0]],
    [rgb[1], bits[1], grey[1]],
  ]],
  "jpeg_array": lists("JPEG", [jpegA], [jpegB, jpegA]),
  jpegarray: lists("JPEG", [jpegA], [jpegB, jpegA]),
};

/** Prints the encodings that Streaming supports. */
const ENCODINGS = `
import json
from streaming.base.format.mds.encodings import get_mds_encodings
print(json.dumps(sorted(get_mds_encodings())))
`;

Deno.test({
  name: "Streaming reads every encoding that MDSWriter writes",
  ...needs("mosaicml-streaming"),
  fn: () =>
    withTempDir(async (dir) => {
      const encodings = Object.keys(COLUMNS);
      const names = new Set(
        encodings.map((encoding) => encoding.split(":")[0]),
      );
      assert.deepEqual([...names].sort(), [...ENCODING_NAMES].sort());
      const [known] = await pythonLines(ENCODINGS, "", {
        python: PEERS_PYTHON,
      });
      assert.deepEqual([...names].sort(), known);
      const length = Math.max(
        ...Object.values(COLUMNS).map(({ length }) => length),
      );
      const rows = Array.from({ length }, (_, i) =>
        encodings.map((encoding) => {
          const values = COLUMNS[encoding]!;
          return [`of/${encoding}`, ...values[i % values.length]!] as const;
        }));
      const columns = Object.fromEntries(
        encodings.map((encoding) => [`of/${encoding}`, encoding]),
      );
      const path = `${dir}/mds`;
      const options = { columns, shardLength: 4 };
      await using writer = await MDSWriter.open(path, options);
      for (const row of rows) {
        await writer.write(
          Object.fromEntries(row.map(([name, value]) => [name, value])),
        );
      }
      await writer.close();
      const expected = rows.map((row) =>
        Object.fromEntries(row.map(([name, , value]) => [name, value]))
      );
      const [found] = await streamingSamples([path]);
      assert.deepEqual(found, expected);
    }),
});

Deno.test({
  name: "Streaming reads samples with only empty values",
  ...needs("mosaicml-streaming"),
  fn: () =>
    withTempDir(async (dir) => {
      const columns = { a: "str", b: "bytes" };
      await using writer = await MDSWriter.open(`${dir}/mds`, { columns });
      const sample = { a: "", b: new Uint8Array(0) };
      for (let i = 0; i < 3; i++) await writer.write(sample);
      await writer.close();
      const [found] = await streamingSamples([`${dir}/mds`]);
      const expected = { a: "", b: { bytes: "" } };
      assert.deepEqual(found, [expected, expected, expected]);
    }),
});
