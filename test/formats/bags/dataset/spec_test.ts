/** Specifications: types, and keys that must not escape from the dataset's directory. */
import assert from "node:assert/strict";
import { FormatError } from "../../../../src/base/errors.ts";
import {
  keyProblem,
  parseSpec,
  parseType,
  specOf,
} from "../../../../src/formats/bags/dataset/spec.ts";

const parse = (text: string, hasRefs = false) =>
  parseSpec(new TextEncoder().encode(text), "d/spec.json", hasRefs);

Deno.test("a type has a word, a name and arguments, and may be a list", () => {
  const type = (text: string, withLists = true) => {
    const { word, name, args, isList } = parseType(text, withLists);
    return [word, name, args, isList];
  };
  assert.deepEqual(type("utf8"), ["utf8", "utf8", [], false]);
  assert.deepEqual(type("utf8[]"), ["utf8", "utf8", [], true]);
  assert.deepEqual(type("int(8)"), ["int(8)", "int", ["8"], false]);
  assert.deepEqual(type("array(float32,64,128)[]"), [
    "array(float32,64,128)",
    "array",
    ["float32", "64", "128"],
    true,
  ]);
  assert.deepEqual(type("my()"), ["my()", "my", [""], false]);
  assert.deepEqual(type(""), ["", "", [], false]);
  assert.deepEqual(type("a(b"), ["a(b", "a(b", [], false]);
  // Generation 3 has no lists: the word is the whole type.
  assert.deepEqual(type("utf8[]", false), ["utf8[]", "utf8[]", [], false]);
});

Deno.test("keys and types are read in the order of the file, and written again", () => {
  const text = { b: "utf8[]", a: "int(4,big)", "2": "x", "1": "y" };
  const source = '{"b": "utf8[]", "a": "int(4,big)", "2": "x", "1": "y"}';
  const keys = parse(source);
  assert.deepEqual(keys.map(({ key }) => key), ["b", "a", "2", "1"]);
  assert.deepEqual(specOf(keys), text);
  assert.deepEqual(
    specOf(
      parse('{"B":"x","a":"utf8[]","\u{ffff}":"y","\u{10000}":"z"}', true),
    ),
    { B: "x", a: "utf8[]", "\u{ffff}": "y", "\u{10000}": "z" },
  );
  const [proto] = parse('{"__proto__": "int"}');
  assert.equal(proto?.key, "__proto__");
  assert.deepEqual(Object.keys(specOf([proto!])), ["__proto__"]);
});

Deno.test("keys that are not file names are unsafe", () => {
  const bad = ["", ".", "..", "/", "a/b", "../a", "a\0b", "\ud800"];
  for (const key of [...bad, "é".repeat(126)]) {
    assert.equal(typeof keyProblem(key, false), "string", key);
    const spec = JSON.stringify({ [key]: "int" });
    assert.throws(() => parse(spec), /d\/spec\.json: unsafe key/);
  }
  for (
    const key of ["a", "...", ".a", "a b", "ключ", "a\\b", "x".repeat(251)]
  ) {
    assert.equal(keyProblem(key, true), undefined);
  }
  assert.equal(keyProblem("refs", false), undefined);
  assert.equal(typeof keyProblem("refs", true), "string");
});

Deno.test("an invalid spec is rejected by name", () => {
  const faults: [string, boolean, RegExp][] = [
    ["", false, /spec\.json is not JSON/],
    ["{", false, /spec\.json is not JSON/],
    ['{"a": "b"} x', false, /spec\.json is not JSON/],
    ["[".repeat(100_000), false, /spec\.json is not JSON|must be an object/],
    ["[]", false, /the spec must be an object/],
    ['"a"', false, /the spec must be an object/],
    ["null", false, /the spec must be an object/],
    ['{"a": 5}', false, /the type of "a" is 5: a type must be a string/],
    ['{"a": null}', false, /the type of "a" is null: a type must be a string/],
    ['{"a": 9007199254740993}', false, /"a" is 9007199254740993: a type must/],
    [`{"a": ${"9".repeat(4000)}}`, true, /"a" is 9{80}…: a type must/],
    ['{"a": [1e999, {"b": 12345678901234567890}]}', false, /"a" is a list: a/],
    ['{"a": {"toString": 12345678901234567890}}', true, /"a" is an object: a/],
    ['{"b": "x", "a": "x"}', true, /the keys must be sorted/],
    ['{"a": "x", "B": "x"}', true, /the keys must be sorted/],
    ['{"refs": "x"}', true, /unsafe key "refs"/],
  ];
  for (const [text, hasRefs, message] of faults) {
    assert.throws(() => parse(text, hasRefs), (error: unknown) => {
      assert.ok(error instanceof FormatError, text.slice(0, 40));
      assert.equal(error.code, "bad-spec");
      assert.match(error.message, message);
      return true;
    });
  }
});
