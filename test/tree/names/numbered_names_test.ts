import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { NumberedNames } from "../../../src/tree/names/numbered_names.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

function nameOf(names: NumberedNames, number: number): string {
  const bytes = new Uint8Array(names.maxLength);
  return new TextDecoder().decode(
    bytes.subarray(0, names.write(number, bytes)),
  );
}

Deno.test("every number has one name, padded, and the name leads back to it", () => {
  const number = fc.oneof(
    fc.nat(2000),
    fc.maxSafeNat(),
    fc.constantFrom(999_999, 1_000_000, 2 ** 53 - 1),
  );
  const width = fc.integer({ min: 1, max: 12 });
  const suffix = fc.constantFrom("", ".jpg", ".tar.gz");
  fc.assert(
    fc.property(number, width, suffix, (number, width, suffix) => {
      const names = new NumberedNames(width, suffix);
      const name = nameOf(names, number);
      assert.equal(name, String(number).padStart(width, "0") + suffix);
      const inside = ascii(`//${name}//`);
      assert.equal(names.parse(inside, 2, inside.length - 2), number);
    }),
  );
});

Deno.test("other names are not found", () => {
  const names = new NumberedNames(6, ".jpg");
  for (
    const name of [
      "",
      ".jpg",
      "000001",
      "00001.jpg",
      "0000001.jpg",
      "00000a.jpg",
      "-00001.jpg",
      "000001.jpeg",
      "000001.JPG",
      "99999999999999999.jpg",
      "9007199254740993.jpg",
    ]
  ) {
    const bytes = ascii(name);
    assert.equal(names.parse(bytes, 0, bytes.length), -1, name);
  }
});
