/** Arrays, alone and in trees: valid, foreign, and damaged. */
import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  decodersOf,
  encodersOf,
  ValueError,
} from "../../../../src/formats/bags/types/mod.ts";
import type {
  Decoder,
  Encoder,
} from "../../../../src/formats/bags/types/shipped.ts";
import { writeMsgpack } from "../../../../src/codecs/msgpack/mod.ts";
import {
  type NdArray,
  readNpy,
  writeNpy,
} from "../../../../src/codecs/numpy/mod.ts";
import { arrayFromBytes } from "../../../../src/codecs/numpy/array_bytes.ts";
import { parseDtype } from "../../../../src/codecs/numpy/dtype.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";

const { array: encodeArray, tree: encodeTree } = encodersOf(3);
const { array: decodeArray, tree: decodeTree } = decodersOf(3);

async function encoded(
  encoder: Encoder | undefined,
  value: unknown,
  ...args: string[]
): Promise<Uint8Array<ArrayBuffer>> {
  return (await encoder!(value as never, ...args)).slice();
}

const NUMERIC = "|b1 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 <c8 <c16"
  .split(" ");
const DTYPES = [...NUMERIC, "|S3", "<U2", "<M8[ns]"];

const arrays: fc.Arbitrary<NdArray> = fc.record({
  dtype: fc.constantFrom(...DTYPES),
  shape: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
  seed: fc.nat(),
}).map(({ dtype, shape, seed }) => {
  const size = shape.reduce((product, length) => product * length, 1) *
    parseDtype(dtype).itemSize;
  const isPlain = dtype === "|b1" || dtype.startsWith("<U");
  const bytes = Uint8Array.from({ length: size }, (_, i) => {
    if (dtype.startsWith("<U")) return i % 4 === 0 ? 65 + (seed + i) % 26 : 0;
    return isPlain ? (seed + i) % 3 & 1 : (seed + i * 31) % 251 & 0x7b;
  });
  return arrayFromBytes(dtype, shape, bytes);
});

Deno.test("an array is restored, alone, from a file of NumPy, and from a tree", async () => {
  await fc.assert(fc.asyncProperty(arrays, async (array) => {
    assert.deepStrictEqual(
      decodeArray!(await encoded(encodeArray, array)),
      array,
    );
    assert.deepStrictEqual(readNpy(writeNpy(array)), array);
    const tree = { list: [array, { deep: array }], plain: 1 };
    assert.deepStrictEqual(decodeTree!(await encoded(encodeTree, tree)), tree);
    const args = [array.dtype, ...array.shape.map(String)];
    const bare = await encoded(encodeArray, array, ...args);
    assert.deepStrictEqual(decodeArray!(bare, ...args), array);
  }));
});

/** Encodes the content of a .npy file as the formats.py of granular and of bags do. */
const ORIGINALS = `
import io, json, msgpack, numpy as np, sys
for line in sys.stdin:
    a = np.load(io.BytesIO(bytes.fromhex(line)))
    data = memoryview(a.tobytes())
    print(json.dumps([msgpack.packb((a.dtype.str, a.shape, data)).hex(),
        msgpack.packb([('_', a.dtype.str, a.shape, data), {'a': 1}]).hex(), a.tobytes().hex()]))
`;

Deno.test({
  name: "Python encodes an array to the same bytes (needs numpy, msgpack)",
  ...needs("numpy", "msgpack"),
  async fn() {
    const samples = fc.sample(arrays, 500);
    const input = samples.map((array) => `${writeNpy(array).toHex()}\n`);
    const lines = await pythonLines(ORIGINALS, input.join(""));
    for (const [i, array] of samples.entries()) {
      const args = [array.dtype, ...array.shape.map(String)];
      assert.deepEqual([
        (await encoded(encodeArray, array)).toHex(),
        (await encoded(encodeTree, [array, { a: 1 }])).toHex(),
        (await encoded(encodeArray, array, ...args)).toHex(),
      ], lines[i]);
    }
  },
});

Deno.test("elements are shared if they are aligned, and copied otherwise", () => {
  for (const offset of [0, 1, 2, 4, 8]) {
    const bytes = new Uint8Array(24 + offset).subarray(offset);
    const { data } = decodeArray!(bytes, "float64", "3") as NdArray;
    assert.deepEqual(data, new Float64Array(3));
    assert.equal(
      (data as Float64Array).buffer === bytes.buffer,
      offset % 8 === 0,
    );
  }
});

Deno.test("big-endian elements are swapped, both ways", async () => {
  const big = Uint8Array.of(0, 1, 0, 2);
  const array = { dtype: "<i2", shape: [2], data: Int16Array.of(1, 2) };
  assert.deepStrictEqual(decodeArray!(big, ">i2", "2"), array);
  assert.deepEqual(await encoded(encodeArray, array, ">i2", "2"), big);
  const packed = writeMsgpack([">i2", [2], big]);
  assert.deepStrictEqual(decodeArray!(packed), array);
  assert.deepStrictEqual(
    decodeTree!(writeMsgpack(["_", ">i2", [2], big])),
    array,
  );
  const text = Uint8Array.of(0, 0, 0, 65);
  assert.deepEqual(
    await encoded(encodeArray, { data: ["A"], shape: [1] }, ">U1", "1"),
    text,
  );
});

Deno.test("NumPy's names of the element type are accepted", () => {
  for (
    const [word, dtype] of [
      ["float32", "<f4"],
      ["bool", "|b1"],
      ["f2", "<f2"],
      ["uint8", "|u1"],
      ["u1", "|u1"],
      ["=i4", "<i4"],
      ["?", "|b1"],
      ["complex64", "<c8"],
      ["S3", "|S3"],
      ["datetime64[ns]", "<M8[ns]"],
    ]
  ) {
    const bytes = new Uint8Array(parseDtype(dtype!).itemSize);
    assert.equal((decodeArray!(bytes, word!) as NdArray).dtype, dtype);
  }
});

const FOUR = new Uint8Array(4);

/** Values that are not arrays, and the error messages. */
const DAMAGED: [string, unknown, RegExp][] = [
  ["a list of two", ["<f4", [1]], /not a list of an element type, a shape/],
  ["a map", { dtype: "<f4" }, /not a list of an element type/],
  ["an invalid shape", ["<f4", ["1"], FOUR], /not a list of an element/],
  ["a length below 0", ["<f4", [-1], FOUR], /not a list of an element type/],
  [
    "a length that is not a number",
    ["<f4", [2n ** 60n], FOUR],
    /not a list of/,
  ],
  ["65 dimensions", ["<f4", Array(65).fill(1), FOUR], /not a list of/],
  ["elements as text", ["<f4", [1], "aaaa"], /not a list of/],
  ["too few bytes", ["<f4", [2], FOUR], /4 bytes of data, .* takes 8/],
  ["too many bytes", ["<f4", [0], FOUR], /4 bytes of data, .* takes 0/],
  ["an absurd shape", ["<f4", [2 ** 31, 2 ** 31], FOUR], /takes \d+/],
  ["Python objects", ["|O", [1], FOUR], /holds Python objects/],
  ["long doubles", ["<f16", [1], FOUR], /'<f16': it is unsupported/],
  ["fields", ["|V0", [1], FOUR], /it is unsupported/],
];

for (const [name, value, words] of DAMAGED) {
  Deno.test(`an array of ${name} is damage, and in a tree a list`, () => {
    assert.throws(
      () => decodeArray!(writeMsgpack(value as string)),
      (error) => {
        assert.ok(error instanceof ValueError, `${error}`);
        assert.equal(error.code, "bad-value");
        assert.match(error.message, words);
        return true;
      },
    );
    if (!Array.isArray(value)) return;
    const list = ["_", ...value];
    assert.deepEqual(decodeTree!(writeMsgpack(list)), list);
  });
}

Deno.test("truncated or deep msgpack is rejected in every type based on it", () => {
  const deep = new Uint8Array(100_001).fill(0x91);
  for (const word of ["msgpack", "array", "tree"]) {
    const decode: Decoder = decodersOf(3)[word]!;
    for (const bytes of [deep, Uint8Array.of(0x93, 0xa3), Uint8Array.of()]) {
      assert.throws(() => decode(bytes), {
        name: "MsgpackError",
        code: "bad-msgpack",
      });
    }
  }
});

Deno.test("invalid arguments, and those that do not fit the array, are rejected", async () => {
  for (
    const args of [
      ["float33"],
      ["float32", "x"],
      ["float32", "-1"],
      ["object"],
      ["f4", "1.5"],
      ["|O"],
      [""],
    ]
  ) {
    assert.throws(() => decodeArray!(FOUR, ...args), (error) => {
      assert.ok(error instanceof ValueError, `${args}: ${error}`);
      assert.equal(error.code, "bad-arguments");
      return true;
    });
  }
  assert.throws(() => decodeArray!(FOUR, "float32", "2"), {
    code: "bad-value",
  });
  assert.throws(() => decodeArray!(FOUR, "uint8", "999999999999999"), {
    code: "bad-value",
  });
  const array = { data: Float32Array.of(1), shape: [1] };
  for (
    const args of [["float64", "1"], ["float32"], ["float32", "1", "1"], [
      "float32",
      "2",
    ]]
  ) {
    await assert.rejects(() => encoded(encodeArray, array, ...args), TypeError);
  }
});

Deno.test("a value in a tree that only looks like an array stays unchanged", async () => {
  for (
    const value of [
      ["_", 1, 2, 3],
      ["_", "<f4", [1], FOUR, 5],
      ["-", "<f4", [1], FOUR],
      { dtype: "<f4", shape: [2], data: FOUR },
      { dtype: "|u1", shape: [4], data: FOUR, more: 1 },
      new Map<string, unknown>([["dtype", "|u1"], ["shape", [4]], [
        "data",
        FOUR,
      ]]),
    ]
  ) {
    const bytes = await encoded(encodeTree, value);
    assert.deepStrictEqual(decodeTree!(bytes), value);
    assert.deepEqual(await encoded(encodeTree, decodeTree!(bytes)), bytes);
  }
});

Deno.test("a tree that contains itself is rejected", async () => {
  const loop: unknown[] = [];
  loop.push([{ loop }]);
  await assert.rejects(() => encoded(encodeTree, loop), /1024 levels deep/);
  await assert.rejects(
    () => encoded(encodeTree, { a: new Date() }),
    /a Date as/,
  );
});
