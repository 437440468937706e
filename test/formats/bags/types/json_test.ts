/** Conversion of values to JSON and back. */
import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  decodersOf,
  encodersOf,
  ValueError,
} from "../../../../src/formats/bags/types/mod.ts";
import {
  jsonToValue,
  valueToJson,
} from "../../../../src/formats/bags/types/json_values.ts";
import type { TreeContent } from "../../../../src/codecs/values/array_tree.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
} from "../../../../src/codecs/msgpack/mod.ts";
import { isNdArray } from "../../../../src/codecs/numpy/array_bytes.ts";
import { needs } from "../../../support/programs/programs.ts";
import { hex, pythonLines } from "../../../support/programs/python.ts";

/** Values, and their documented JSON. */
const FORMS: [TreeContent, string][] = [
  [null, "null"],
  [-0, "-0.0"],
  [1e300, "1e+300"],
  [NaN, "NaN"],
  [-Infinity, "-Infinity"],
  [2n ** 64n - 1n, "18446744073709551615"],
  [2 ** 53, "9007199254740992.0"],
  ['é"\n\ud83d\ude00', '"é\\"\\n\ud83d\ude00"'],
  [{ a: [1, { b: true }] }, '{"a": [1, {"b": true}]}'],
  [{ 0: "x", 1: "y" }, '{"0": "x", "1": "y"}'],
  [new Map([["1", 1], ["0", 2]]), '{"1": 1, "0": 2}'],
  [new Map([[1, "one"]]), '{"$map": [[1, "one"]]}'],
  [new Map([[Uint8Array.of(97), 1]]), '{"$map": [[{"$bytes": "YQ=="}, 1]]}'],
  [Uint8Array.of(0, 255, 1), '{"$bytes": "AP8B"}'],
  [
    new MsgpackExt(5, Uint8Array.of(1)),
    '{"$ext": {"type": 5, "data": "AQ=="}}',
  ],
  [
    new MsgpackTimestamp(2n ** 60n, 7),
    '{"$timestamp": {"seconds": 1152921504606846976, "nanoseconds": 7}}',
  ],
  [new MsgpackFloat(1), "1.0"],
  [{ a: [new MsgpackFloat(-1e5), 1] }, '{"a": [-100000.0, 1]}'],
  [
    { dtype: "<f4", shape: [2, 2], data: Float32Array.of(0.5, NaN, -0, 3) },
    '{"$array": {"dtype": "<f4", "shape": [2, 2], "values": [[0.5, NaN], [-0.0, 3]]}}',
  ],
  [
    { dtype: "|b1", shape: [2], data: Uint8Array.of(0, 1) },
    '{"$array": {"dtype": "|b1", "shape": [2], "values": [false, true]}}',
  ],
  [
    { dtype: "<u8", shape: [], data: BigUint64Array.of(2n ** 64n - 1n) },
    '{"$array": {"dtype": "<u8", "shape": [], "values": 18446744073709551615}}',
  ],
  [
    { dtype: "<i8", shape: [2], data: BigInt64Array.of(-5n, 7n) },
    '{"$array": {"dtype": "<i8", "shape": [2], "values": [-5, 7]}}',
  ],
  [
    { dtype: "<U2", shape: [2], data: ["é", "ab"] },
    '{"$array": {"dtype": "<U2", "shape": [2], "values": ["é", "ab"]}}',
  ],
  [
    { dtype: "<c8", shape: [1], data: Float32Array.of(1, 2) },
    '{"$array": {"dtype": "<c8", "shape": [1], "data": "AACAPwAAAEA="}}',
  ],
  [
    { dtype: "|u1", shape: [3, 0], data: new Uint8Array(0) },
    '{"$array": {"dtype": "|u1", "shape": [3, 0], "values": []}}',
  ],
];

Deno.test("a float in JSON is a float in MessagePack, in each of its forms", () => {
  const floats = ["1.0", "1e0", "10E-1", '{"$float": 1}', '{"$float": 1.0}'];
  for (const json of floats) {
    assert.deepStrictEqual(jsonToValue(json), new MsgpackFloat(1));
  }
  assert.deepStrictEqual(jsonToValue("-0"), 0); // an integer, as in Python
  assert.deepStrictEqual(
    jsonToValue("1.9999999999999999"),
    new MsgpackFloat(2),
  );
});

for (const [value, json] of FORMS) {
  Deno.test(`${json} is written, and parsed again`, () => {
    assert.equal(valueToJson(value), json);
    assert.deepStrictEqual(jsonToValue(json), value);
  });
}

Deno.test("an object that looks like a form is restored as a map", () => {
  const value = { $bytes: "AQ==" };
  const json = valueToJson(value);
  assert.equal(json, '{"$map": [["$bytes", "AQ=="]]}');
  assert.deepEqual(jsonToValue(json), new Map([["$bytes", "AQ=="]]));
  assert.deepEqual(jsonToValue('{"$a": 1, "$b": 2}'), { $a: 1, $b: 2 });
  const fields = '{"dtype": "<U1", "shape": [1], "data": ["a"]}';
  assert.ok(jsonToValue(fields) instanceof Map);
});

const key = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 5 }),
  fc.constantFrom("$bytes", "$map", "__proto__", "dtype", "10", "2"),
);
const { value: anyValue } = fc.letrec<{ value: TreeContent }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<TreeContent>(null, true, false),
    fc.double(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.string({ unit: "binary" }),
    fc.uint8Array(),
    fc.float32Array({ maxLength: 9 }).map((data) => ({
      dtype: "<f4",
      shape: [data.length],
      data: new Float32Array(data),
    })),
    fc.bigInt64Array({ maxLength: 9 }).map((data) => ({
      dtype: "<i8",
      shape: [1, data.length, 1],
      data: new BigInt64Array(data),
    })),
    fc.array(tie("value")),
    fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    fc.array(fc.tuple(fc.oneof(key, fc.integer()), tie("value")))
      .map((entries) => new Map(entries)),
  ),
}));

/**
 * Converts objects to maps only where necessary: for their keys, their order, a single `$` key, or an array's fields.
 */
function asMaps(value: TreeContent): TreeContent {
  if (Array.isArray(value)) return value.map(asMaps);
  if (value instanceof Map) {
    const map = new Map([...value].map(([key, item]) => [key, asMaps(item)]));
    const keys = [...map.keys()];
    const made = Object.fromEntries(map);
    const isObject = keys.every((key) => typeof key === "string") &&
      Object.keys(made).every((key, i) => key === keys[i]) &&
      !(keys.length === 1 && keys[0]!.startsWith("$")) && !isNdArray(made);
    return isObject ? made : map;
  }
  const isObject = typeof value === "object" && value !== null &&
    Object.getPrototypeOf(value) === Object.prototype && !isNdArray(value);
  if (!isObject) return value;
  const entries = Object.entries(value).map(([key, item]) =>
    [key, asMaps(item)] as const
  );
  return entries.length === 1 && entries[0]![0].startsWith("$")
    ? new Map(entries)
    : Object.fromEntries(entries);
}

Deno.test("every value survives conversion to JSON and back", () => {
  fc.assert(fc.property(anyValue, (value) => {
    const json = valueToJson(value);
    assert.deepStrictEqual(jsonToValue(json), asMaps(value));
    assert.equal(valueToJson(jsonToValue(json)), json);
  }));
});

Deno.test({
  name: "Python's json reads the same numbers and texts (needs python3)",
  ...needs("python3"),
  async fn() {
    const values = fc.sample(
      fc.oneof(
        fc.double(),
        fc.maxSafeInteger(),
        fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
        fc.string({ unit: "binary" }),
      ),
      1000,
    );
    const script = `
import json, struct, sys
for line in sys.stdin:
    v = json.loads(line)
    print(json.dumps([type(v).__name__, struct.pack('>d', v).hex() if isinstance(v, float) and v == v else str(v)]))
`;
    // Splits at line feeds only: texts may contain other line separators.
    const lines = await pythonLines(
      script.replace(
        "sys.stdin:",
        "sys.stdin.buffer.read().decode().rstrip('\\n').split('\\n'):",
      ),
      values.map((value) => `${valueToJson(value)}\n`).join(""),
    );
    for (const [i, value] of values.entries()) {
      assert.deepEqual(lines[i], inPython(value), String(value));
    }
  },
});

function inPython(value: number | bigint | string): [string, string] {
  if (typeof value === "string") return ["str", value];
  if (typeof value === "bigint") return ["int", String(value)];
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
    return ["int", String(value)];
  }
  if (Number.isNaN(value)) return ["float", "nan"];
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return ["float", new Uint8Array(view.buffer).toHex()];
}

for (
  const [kind, head] of [["lists", "91"], ["objects", "81a161"], [
    "maps",
    "81c0",
  ]] as const
) {
  Deno.test(`${kind} nested up to the limit are shown and encoded`, async () => {
    const packed = hex(head.repeat(1024) + "c0");
    const value = decodersOf(3).tree!(packed) as TreeContent;
    const json = valueToJson(value);
    const opened = { lists: "[", objects: '{"a"', maps: '{"$map"' }[kind];
    assert.equal(json.split(opened).length - 1, 1024);
    const bytes = await encodersOf(3).tree!(value as never);
    assert.deepEqual(bytes, packed);
  });
}

const DEEP = 100_000;

/** Invalid JSON values, and the error messages. */
const REFUSED: [string, RegExp][] = [
  ["", /ends early/],
  ["{", /ends early/],
  ["1 2", /more follows/],
  ["'a'", /value is missing/],
  ['{"$byte": ""}', /{"\$byte": …} is not a valid value; the forms are/],
  ['{"$bytes": "*"}', /{"\$bytes": …} is not a valid value/],
  ['{"$bytes": 5}', /{"\$bytes": …} is not a valid value/],
  ['{"$float": "1"}', /{"\$float": …} is not a valid value/],
  ['{"$map": {}}', /{"\$map": …} is not a valid value/],
  ['{"$map": [[1]]}', /{"\$map": …} is not a valid value/],
  [
    '{"$ext": {"type": -1, "data": ""}}',
    /type of an extension must be .*, not -1/,
  ],
  ['{"$ext": null}', /{"\$ext": …} is not a valid value/],
  [
    '{"$timestamp": {"seconds": 1.5, "nanoseconds": 0}}',
    /timestamp must have whole seconds .*, not 1\.5 /,
  ],
  [
    '{"$array": {"dtype": "<f4", "shape": [1]}}',
    /{"\$array": …} is not a valid value/,
  ],
  ['{"$array": {"dtype": "<f4", "shape": [-1], "values": []}}', /\$array/],
  [
    '{"$array": {"dtype": "|O", "shape": [1], "values": [1]}}',
    /Python objects/,
  ],
  ['{"$array": {"dtype": "<f4", "shape": [2], "values": [1]}}', /shape \(2\)/],
  [
    '{"$array": {"dtype": "<f4", "shape": [9e9], "values": [1]}}',
    /lists of shape/,
  ],
  ['{"$array": {"dtype": "<f4", "shape": [2], "data": "AAAA"}}', /takes 8/],
  ['{"$array": {"dtype": "|u1", "shape": [1], "values": [256]}}', /256 is no/],
  ['{"$array": {"dtype": "|u1", "shape": [1], "values": [-1]}}', /-1 is no/],
  ['{"$array": {"dtype": "<i8", "shape": [1], "values": [0.5]}}', /0.5 is no/],
  [
    '{"$array": {"dtype": "<u8", "shape": [1], "values": [18446744073709551616]}}',
    /is not an el/,
  ],
  ['{"$array": {"dtype": "|b1", "shape": [1], "values": [1]}}', /1 is no/],
  ['{"$array": {"dtype": "<U1", "shape": [1], "values": ["ab"]}}', /too short/],
  ["[".repeat(DEEP) + "]".repeat(DEEP), /levels deep/],
  ["[".repeat(DEEP) + "1234567890123456789" + "]".repeat(DEEP), /levels deep/],
  ['{"$map": [[1, '.repeat(DEEP) + "1" + "]]}".repeat(DEEP), /levels deep/],
];

for (const [json, words] of REFUSED) {
  Deno.test(`${json.slice(0, 70)} is rejected`, () => {
    assert.throws(() => jsonToValue(json, "msgpack"), (error) => {
      assert.ok(error instanceof ValueError, `${error}`);
      assert.equal(error.code, "bad-json");
      assert.match(
        error.message,
        /^Not valid JSON of a value of type 'msgpack': /,
      );
      assert.match(error.message, words);
      return true;
    });
  });
}

Deno.test("a value that JSON cannot represent is not shown", () => {
  const loop: unknown[] = [];
  loop.push(loop);
  for (
    const [value, words] of [
      [undefined, /undefined/],
      [[() => 1], /a function/],
      [new Date(0), /a Date/],
      [Float32Array.of(1), /a Float32Array/],
      [loop, /more than 1024 deep/],
    ] as [TreeContent, RegExp][]
  ) {
    assert.throws(() => valueToJson(value), (error) => {
      assert.ok(error instanceof TypeError, `${error}`);
      assert.match(error.message, words);
      return true;
    });
  }
});

/** Returns the peak resident memory of a program that encodes the value of a text, in bytes. */
async function memoryFor(text: string): Promise<number> {
  const types = new URL(
    "../../../../src/formats/bags/types/",
    import.meta.url,
  );
  const program = `
    import { encodersOf } from "${types}mod.ts";
    import { jsonToValue } from "${types}json_values.ts";
    try { encodersOf(3).tree(jsonToValue(${JSON.stringify(text)})); } catch {}
    console.log(/VmHWM:\\s+(\\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))[1]);`;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", program],
  }).output();
  assert.ok(success);
  return Number(new TextDecoder().decode(stdout)) * 1024;
}

const WIDE = '"dtype": "<U99999999", "shape": [1]';

Deno.test("an array of one letter does not allocate memory for 100 million", async () => {
  const text = `{"$array": {${WIDE}, "values": ["a"]}}`;
  const more = await memoryFor(text) - await memoryFor('{"a": [1, 2]}');
  assert.ok(more < 100e6, `it took ${more} bytes more`);
});

Deno.test("text that is nearly all padding is rejected as values, and shown as bytes", () => {
  assert.throws(
    () => jsonToValue(`{"$array": {${WIDE}, "values": ["a"]}}`),
    { code: "bad-json", message: /all padding .*<U8/ },
  );
  const padded = { dtype: "<U3000", shape: [2], data: ["a", "é"] };
  const json = valueToJson(padded);
  assert.match(
    json,
    /^{"\$array": {"dtype": "<U3000", "shape": \[2\], "data": "/,
  );
  assert.deepStrictEqual(jsonToValue(json), padded);
  // The usual padding of text arrays is not excessive.
  const usual = { dtype: "<U500", shape: [2], data: ["a", ""] };
  assert.match(valueToJson(usual), /"values": \["a", ""\]/);
  assert.deepStrictEqual(jsonToValue(valueToJson(usual)), usual);
});
