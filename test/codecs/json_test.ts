import assert from "node:assert/strict";
import { FULL, LONG } from "../support/long.ts";
import fc from "../support/random.ts";
import { formatJson } from "../../src/codecs/json/format.ts";
import {
  type JsonValue,
  parseExactJson,
  parseJson,
} from "../../src/codecs/json/value.ts";
import {
  MsgpackFloat,
  readMsgpack,
  writeMsgpack,
} from "../../src/codecs/msgpack/mod.ts";
import { inPython, jsonObjectText, jsonText } from "../support/json_texts.ts";
import { needs } from "../support/programs/programs.ts";

type Meta = { [key: string]: JsonValue };

Deno.test("unchanged parsed values are written with their original text", () => {
  fc.assert(fc.property(jsonText, (text) => {
    const value = parseJson(` ${text}\n`);
    const isNested = typeof value === "object" && value !== null;
    if (isNested) assert.equal(formatJson(value), text);
  }));
});

Deno.test({
  name: "in a changed value, unchanged parts are written like Python",
  ...needs("python3"),
  async fn() {
    const texts = fc.sample(jsonObjectText, 500);
    // Replaces one value, and appends another at the end.
    const changed = texts.map((text) => {
      const meta = parseJson(text) as Meta;
      meta["a"] = "changed";
      meta["new"] = [2];
      return formatJson(meta);
    });
    const expected = texts.map((text) => {
      const before = text.replace(/\s*\}$/, "");
      const comma = before.endsWith("{") ? "" : ",";
      return `${before}${comma}"a":"changed","new":[2]}`;
    });
    assert.deepEqual(await inPython(changed), await inPython(expected));
  },
});

Deno.test("a change deep in an object or list does not affect its siblings", () => {
  const meta = parseJson(
    '{"10": {"x":1.0, "y": [1.0,2.0]}, "2": 1e0, "gone": 1.0}',
  ) as { 10: { y: number[]; z?: number }; gone?: number };
  meta[10].y.push(3);
  meta[10].z = 4;
  delete meta.gone;
  assert.equal(
    formatJson(meta as never),
    '{"10": {"x": 1.0, "y": [1.0, 2.0, 3], "z": 4}, "2": 1e0}',
  );
  const other = parseJson('{"inner": 1.0}') as Meta;
  other.inner = parseJson('{"b": 1.0}');
  assert.equal(formatJson(other), '{"inner": {"b": 1.0}}');
  assert.equal(formatJson({ ...parseJson('{"a": 1.0}') as Meta }), '{"a": 1}');
});

Deno.test("parsed values do not expose their text", () => {
  const value = parseJson('{"10": 1.0, "2": [1]}') as Meta;
  assert.deepEqual(Reflect.ownKeys(value), ["2", "10"]);
  assert.deepStrictEqual(value, { 2: [1], 10: 1 });
  assert.equal(JSON.stringify(value), '{"2":[1],"10":1}');
  assert.equal(formatJson(structuredClone(value)), '{"2": [1], "10": 1}');
});

Deno.test({
  name: "the exact values of JSON are Python's, also through MessagePack",
  ...needs("python3"),
  async fn() {
    const texts = fc.sample(jsonText, 500);
    const parsed = texts.map((text) => parseExactJson(text));
    const expected = await inPython(texts);
    assert.deepEqual(
      await inPython(parsed.map((value) => formatJson(value))),
      expected,
    );
    const packable = texts.map((text, i) => ({ text, i })).filter(({ text }) =>
      !text.includes("\\ud800") && !text.includes("18446744073709551617")
    );
    assert.ok(packable.length > 100);
    const packed = packable.map(({ i }) =>
      readMsgpack(writeMsgpack(parsed[i]!), { keepFloats: true })
    );
    assert.deepEqual(
      await inPython(packed.map((value) => formatJson(value as never))),
      packable.map(({ i }) => expected[i]),
    );
  },
});

Deno.test("a float that is a whole number is never read as an integer", () => {
  const digits = (most: number) =>
    fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: most });
  const float = fc.tuple(
    fc.oneof(fc.constant("0"), digits(14).map((text) => `7${text}`)),
    fc.tuple(fc.constantFrom("0", "9"), fc.nat(17), digits(3))
      .map(([digit, count, more]) => `.${digit.repeat(count + 1)}${more}`),
    fc.constantFrom("", "e0", "E5", "e-1", "e-05", "e-15", "e-400", "e+003"),
    fc.boolean(),
  ).map(([int, fraction, exponent, isShort]) =>
    isShort && exponent !== "" ? `${int}${exponent}` : int + fraction + exponent
  );
  fc.assert(
    fc.property(float, (text) => {
      const isWhole = Number.isSafeInteger(Number(text));
      const value = parseExactJson(text);
      assert.equal(value instanceof MsgpackFloat, isWhole, text);
    }),
    { numRuns: LONG ? 20_000 : FULL ? 4000 : 1500 },
  );
});

Deno.test("a string of millions of escapes is read, and an unterminated one rejected", () => {
  const escapes = 12e6;
  const text = `{"float": 1.0, "text": "${"\\n".repeat(escapes)}`;
  const { text: string } = parseExactJson(`${text}"}`) as { text: string };
  assert.equal(string.length, escapes);
  assert.throws(() => parseExactJson(text), {
    name: "JsonError",
    message: /ends inside a string.*23/,
  });
});
