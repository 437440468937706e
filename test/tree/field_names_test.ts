/** Files of fields are named by field and suffix, and no two have the same name. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  typeOfExtension,
  VALUE_TYPES,
} from "../../src/codecs/values/value_type.ts";
import { fieldNames } from "../../src/tree/samples/field_names.ts";
import type { Field } from "../../src/tree/samples/samples.ts";

const { bytes, jpeg, text } = VALUE_TYPES;

function named(...fields: [string, Field["type"]][]): string[] {
  const all = fields.map(([name, type]) => ({ name, type, isList: false }));
  return fieldNames(all).bytes.map((name) => new TextDecoder().decode(name));
}

Deno.test("a file has its field's name, and the suffix unless the name has it", () => {
  assert.deepEqual(
    named(
      ["a", text],
      ["b.txt", text],
      ["c.TXT", text],
      ["d.jpeg", jpeg],
      ["e", jpeg],
      ["f.jpg", typeOfExtension("jpeg")],
      [".txt", text],
      ["", bytes],
      ["x/y", bytes],
    ),
    [
      "a.txt",
      "b.txt",
      "c.TXT",
      "d.jpeg",
      "e.jpg",
      "f.jpg.jpeg",
      ".txt.txt",
      "%",
      "x%2Fy",
    ],
  );
});

Deno.test("a name that is taken gets a numeric suffix, and one that is too long is shortened", () => {
  assert.deepEqual(named(["a", text], ["a.txt", bytes], ["a.txt", text]), [
    "a.txt",
    "a.txt~2",
    "a~2.txt",
  ]);
  assert.deepEqual(named(["b", bytes], ["ä".repeat(200), text]), [
    "b",
    `${"ä".repeat(111)}~1.txt`,
  ]);
});

Deno.test("names of any fields differ, and are valid file names", () => {
  const type = fc.constantFrom(bytes, jpeg, text);
  const name = fc.oneof(
    fc.constantFrom("a", "a.txt", "a~2", "a~2.txt", "a.jpeg", "..", "/"),
    fc.string({ unit: "binary", maxLength: 300 }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ name, type, isList: fc.boolean() }), {
        maxLength: 6,
      }),
      (fields) => {
        const names = fieldNames(fields);
        assert.equal(names.byName.size, fields.length);
        for (const [i, name] of [...names.byName.keys()].entries()) {
          assert.equal(names.byName.get(name), i);
          assert.ok(names.bytes[i]!.length <= 255);
          assert.doesNotMatch(name, /^\.{0,2}$|[/\0]/);
        }
      },
    ),
  );
});
