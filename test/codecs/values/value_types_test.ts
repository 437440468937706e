/** Conversion of values by type: numbers are parsed as in Python, file types follow from extensions. */
import assert from "node:assert/strict";
import { decodeAs } from "../../../src/codecs/values/decode_value.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
  type ValueDecoding,
  valueType,
} from "../../../src/codecs/values/value_type.ts";
import { decodeValue } from "../../../src/open/mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const decode = (decoding: ValueDecoding, text: string) =>
  decodeAs(decoding, bytes(text));

Deno.test("whole numbers are read like Python's int", () => {
  const right: [string, number | bigint][] = [
    ["7", 7],
    [" -12\n", -12],
    ["+5", 5],
    ["-0", 0],
    ["007", 7],
    ["1_000", 1000],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["+9_007_199_254_740_993 ", 9007199254740993n],
    ["9".repeat(4300), 10n ** 4300n - 1n],
  ];
  for (const [text, expected] of right) {
    assert.ok(Object.is(decode("integer", text), expected), text);
  }
  const wrong = [
    "",
    "x",
    "1.0",
    "1e3",
    "_1",
    "1_",
    "1__2",
    "\ufeff1",
    "1\ufeff",
  ];
  for (const text of [...wrong, "9".repeat(4301)]) {
    assert.throws(() => decode("integer", text), {
      name: "TypeError",
      message: "it is not a whole number",
    });
  }
});

Deno.test("floats are read like Python's float, JSON with or without a byte order mark", () => {
  for (
    const [text, expected] of [["1.5", 1.5], [" -2e3\n", -2000], [".5", 0.5]]
  ) assert.equal(decode("float", text as string), expected);
  assert.ok(Number.isNaN(decode("float", "nan")));
  assert.equal(decode("float", "-inf"), -Infinity);
  assert.throws(() => decode("float", "1,5"), {
    message: "it is not a number",
  });
  assert.deepEqual(decode("json", '\ufeff{"a": 1}'), { a: 1 });
  assert.throws(() => decodeAs("utf8", Uint8Array.of(0xff)), {
    message: "its text is not UTF-8",
  });
});

Deno.test("a file has the type of its last extension, and is bytes without a known one", () => {
  const kinds = ["a/b.seg.PNG", "cls", "x.jsn", "x.npy", "x.pkl", "x.mov"]
    .map((name) => typeOfExtension(name).kind);
  assert.deepEqual(kinds, [
    "image",
    "number",
    "tree",
    "array",
    "tree",
    "video",
  ]);
  for (const name of ["constructor", "__proto__", "x.bin", ""]) {
    assert.equal(typeOfExtension(name).kind, "bytes", name);
  }
  assert.equal(typeOfExtension("a.JPEG").suffix, ".jpeg");
});

Deno.test("a custom type is decoded by a module or one of its functions", async () => {
  const module = `data:text/javascript,${
    encodeURIComponent(
      "export const decodeValue = (bytes, base) => bytes[0] + base;",
    )
  }`;
  for (
    const decoding of [
      { module, args: [40] },
      (bytes: Uint8Array) => bytes[0]! + 40,
    ]
  ) {
    const type = valueType("own", VALUE_TYPES.number, { decoding });
    assert.equal(await decodeValue(Uint8Array.of(2), type), 42);
  }
});
