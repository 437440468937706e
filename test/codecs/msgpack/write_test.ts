/** Output is identical to that of Python's msgpack for the same value. */
import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type PackableValue,
  readMsgpack,
  writeMsgpack,
} from "../../../src/codecs/msgpack/mod.ts";
import { needs } from "../../support/programs/programs.ts";
import { hex, pythonLines } from "../../support/programs/python.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
/** Integers near the limits of encodings, and others. */
const integer = fc.oneof(
  fc.constantFrom(
    ...[0, 1, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32],
    ...[-1, -32, -33, -128, -129, -32768, -32769, -(2 ** 31), -(2 ** 31) - 1],
    ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2n ** 53n, 2n ** 63n],
    ...[-(2n ** 53n), -(2n ** 63n), 2n ** 64n - 1n, 5n, -200n],
  ),
  fc.maxSafeInteger(),
  int64,
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("", "__proto__", "constructor", "10", "2", "a".repeat(31)),
  fc.constantFrom("a".repeat(32), "é".repeat(128), "z".repeat(65_536)),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.constantFrom(255, 256, 65_536).map((size) => new Uint8Array(size)),
);
const special = fc.oneof(
  fc.record({
    type: fc.integer({ min: 0, max: 127 }),
    data: fc.oneof(fc.uint8Array({ maxLength: 20 }), bytes),
  }).map(({ type, data }) => new MsgpackExt(type, data)),
  fc.record({
    seconds: fc.oneof(
      fc.constantFrom(0, -1, 2 ** 32 - 1, 2 ** 32, 2 ** 34 - 1, 2 ** 34),
      fc.maxSafeInteger(),
    ),
    nanoseconds: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 999_999_999 }),
    ),
  }).map(({ seconds, nanoseconds }) =>
    new MsgpackTimestamp(seconds, nanoseconds)
  ),
  fc.integer().map((whole) => new MsgpackFloat(whole)),
);
const { value: anyValue } = fc.letrec<{ value: PackableValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<PackableValue>(null, true, false),
    integer,
    fc.double(),
    text,
    bytes,
    special,
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(text, tie("value"), { maxKeys: 20 }),
    fc.array(fc.tuple(fc.oneof(integer, text), tie("value")), { maxLength: 20 })
      .map((entries) => new Map(distinct(entries))),
  ),
}));

/** Removes entries whose key equals an earlier one for a reader, such as `1` and `1n`. */
function distinct(
  entries: [number | bigint | string, PackableValue][],
): [number | bigint | string, PackableValue][] {
  const seen = new Set<string>();
  return entries.filter(([key]) => {
    const text = JSON.stringify(described(key));
    return !seen.has(text) && seen.add(text);
  });
}

/** Describes a value in JSON, with its types as Python distinguishes them. */
function described(value: PackableValue): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (value instanceof MsgpackFloat) return ["float", float(value.value)];
  if (typeof value === "number" && isFloat(value)) {
    return ["float", float(value)];
  }
  if (typeof value === "number" || typeof value === "bigint") {
    return ["int", String(value)];
  }
  if (typeof value === "string") return ["str", value];
  if (value instanceof Uint8Array) return ["bytes", value.toHex()];
  if (Array.isArray(value)) return ["list", ...value.map(described)];
  if (value instanceof MsgpackExt) {
    return ["ext", value.type, value.data.toHex()];
  }
  if (value instanceof MsgpackTimestamp) {
    return ["time", String(value.seconds), value.nanoseconds];
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return [
    "dict",
    ...entries.map(([key, item]) => [described(key), described(item)]),
  ];
}

function isFloat(value: number): boolean {
  return !Number.isSafeInteger(value) || Object.is(value, -0);
}

function float(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return Number.isNaN(value) ? "nan" : new Uint8Array(view.buffer).toHex();
}

/** For each line of hexadecimal digits, prints the value that Python reads, and its bytes packed again. */
const ROUND = `
import json, math, msgpack, struct, sys
def d(v):
    if v is None or isinstance(v, bool): return v
    if isinstance(v, float): return ['float', 'nan' if math.isnan(v) else struct.pack('>d', v).hex()]
    if isinstance(v, int): return ['int', str(v)]
    if isinstance(v, str): return ['str', v]
    if isinstance(v, bytes): return ['bytes', v.hex()]
    if isinstance(v, list): return ['list', *map(d, v)]
    if isinstance(v, msgpack.ExtType): return ['ext', v.code, v.data.hex()]
    if isinstance(v, msgpack.Timestamp): return ['time', str(v.seconds), v.nanoseconds]
    return ['dict', *([d(k), d(x)] for k, x in v.items())]
for line in sys.stdin:
    v = msgpack.unpackb(bytes.fromhex(line), strict_map_key=False)
    print(json.dumps([d(v), msgpack.packb(v).hex()]))
`;

Deno.test({
  name:
    "Python reads the value, and writes the same bytes for it (needs msgpack)",
  ...needs("msgpack"),
  async fn() {
    const values = fc.sample(anyValue, 1500);
    const packed = values.map((value) => writeMsgpack(value).toHex());
    const lines = await pythonLines(
      ROUND,
      packed.map((digits) => `${digits}\n`).join(""),
    );
    assert.equal(lines.length, values.length);
    values.forEach((value, i) => {
      assert.deepEqual(lines[i], [described(value), packed[i]]);
    });
  },
});

Deno.test("written values are read back", () => {
  fc.assert(fc.property(anyValue, (value) => {
    const packed = writeMsgpack(value);
    const read = readMsgpack(packed);
    assert.deepEqual(described(read), described(unforced(value)));
  }));
});

/** Replaces forced floats by plain numbers, as they are read back. */
function unforced(value: PackableValue): PackableValue {
  if (value instanceof MsgpackFloat) return value.value;
  if (Array.isArray(value)) return value.map(unforced);
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [key, unforced(item)]));
  }
  const isObject = typeof value === "object" && value !== null &&
    !(value instanceof Uint8Array || value instanceof MsgpackExt ||
      value instanceof MsgpackTimestamp);
  if (!isObject) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, unforced(item)]),
  );
}

/** Encodings from the format's description. */
const FORMS: [PackableValue, string][] = [
  [1, "01"],
  [new MsgpackFloat(1), "cb 3ff0000000000000"],
  [-0, "cb 8000000000000000"],
  [2 ** 53, "cb 4340000000000000"],
  [7n, "07"],
  [-(2n ** 63n), "d3 8000000000000000"],
  [new MsgpackTimestamp(1), "d6 ff 00000001"],
  [new MsgpackTimestamp(1, 5), "d7 ff 00000014 00000001"],
  [new MsgpackTimestamp(-1), "c7 0c ff 00000000 ffffffffffffffff"],
];

for (const [value, digits] of FORMS) {
  Deno.test(`${digits} is written`, () => {
    assert.deepEqual(writeMsgpack(value), hex(digits));
  });
}

class Point {
  x = 1;
}
const loop: unknown[] = [];
loop.push(loop);

/** Values without an encoding, and the error messages. */
const REFUSED: [string, unknown, RegExp][] = [
  ["undefined", { a: [1, undefined] }, /undefined as .* at value\["a"\]\[1\]$/],
  ["a function", [() => 1], /a function as/],
  ["a symbol", Symbol("s"), /a symbol as/],
  ["a date", new Date(0), /a Date as/],
  ["an instance", new Point(), /a Point as/],
  ["numbers of another size", Float32Array.of(1), /a Float32Array as/],
  ["a set", new Set([1]), /a Set as/],
  ["a lone surrogate", ["\ud800"], /a lone surrogate .* at value\[0\]/],
  ["2 to the 64th", 2n ** 64n, /an integer beyond 64 bits/],
  ["less than -(2 to the 63rd)", -(2n ** 63n) - 1n, /beyond 64 bits/],
  [
    "a key twice",
    { m: new Map<unknown, number>([[1, 2], [1n, 3]]) },
    /the key 1 twice, .*"m"/,
  ],
  ["a value that contains itself", loop, /more than 1024 levels deep/],
];

for (const [name, value, words] of REFUSED) {
  Deno.test(`${name} is not written`, () => {
    assert.throws(() => writeMsgpack(value as PackableValue), (error) => {
      assert.ok(error instanceof TypeError, `${error}`);
      assert.match(error.message, words);
      return true;
    });
  });
}

Deno.test("values nested as deep as the reader allows are written", () => {
  let value: PackableValue = null;
  for (let i = 0; i < 1024; i++) value = [value];
  assert.deepEqual(writeMsgpack(value), hex("91".repeat(1024) + "c0"));
  assert.throws(() => writeMsgpack([value]), /1024 levels deep/);
});

Deno.test("extensions and timestamps are checked when they are created", () => {
  for (const type of [-1, -129, 128, 1.5, NaN]) {
    assert.throws(() => new MsgpackExt(type, new Uint8Array(1)), RangeError);
  }
  for (const nanoseconds of [-1, 1e9, 0.5, NaN]) {
    assert.throws(() => new MsgpackTimestamp(0, nanoseconds), RangeError);
  }
  for (const seconds of [0.5, 2 ** 53, 2n ** 63n]) {
    assert.throws(() => new MsgpackTimestamp(seconds), RangeError);
  }
});
