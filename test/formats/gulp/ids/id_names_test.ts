import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../../support/random.ts";
import { nameOfId } from "../../../../src/formats/gulp/ids/id_names.ts";
import {
  decodeId,
  encodeId,
} from "../../../../src/formats/gulp/ids/id_text.ts";

const name = (id: string) => nameOfId(encodeId(id));
const text = (id: string) => new TextDecoder().decode(name(id));

/** JavaScript strings, including lone surrogates, with frequent special characters. */
const anyId = fc.array(
  fc.oneof(
    fc.constantFrom("/", "%", "\0", ".", "..", "%2F", "~", "\ud800", "\udfff"),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
  { maxLength: 12 },
).map((parts) => parts.join(""));

Deno.test("names of ids follow the documentation", () => {
  const hex = (value: string) =>
    createHash("sha256").update(value).digest("hex").slice(0, 16);
  for (
    const [id, expected] of [
      ["plain id", "plain id"],
      ["a/b/c", "a%2Fb%2Fc"],
      ["nul\0", "nul%00"],
      ["50%", "50%25"],
      ["", "%"],
      [".", "%2E"],
      ["..", "%2E%2E"],
      ["...", "..."],
      ["../up", "..%2Fup"],
      ["label2idx.json", "%6Cabel2idx.json"],
      ["Label2idx.json", "Label2idx.json"],
      ["meta.json", "meta.json"],
      ["été 😀", "été 😀"],
      ["\ud83d", "%ED%A0%BD"],
      ["x\udc80y", "x%ED%B2%80y"],
      ["x".repeat(255), "x".repeat(255)],
      ["x".repeat(256), `${"x".repeat(230)}~${hex("x".repeat(256))}`],
      // 86 slashes take 258 bytes: the encoded name is shortened and hashed.
      ["/".repeat(86), `${"%2F".repeat(76)}%2~${hex("%2F".repeat(86))}`],
    ] as const
  ) assert.equal(text(id), expected);
});

Deno.test("a name that looks shortened is shortened, so that it differs from other ids' names", () => {
  const long = "y".repeat(300);
  const disguised = text(long);
  assert.notEqual(text(disguised), disguised);
  assert.equal(name(disguised).length, 247);
});

Deno.test("names are valid directory entries, and different ids have different ones", () => {
  fc.assert(fc.property(fc.uniqueArray(anyId, { maxLength: 40 }), (ids) => {
    const names = ids.map(name);
    for (const bytes of names) {
      assert.ok(bytes.length > 0 && bytes.length <= 255);
      assert.ok(!bytes.includes(0) && !bytes.includes(0x2f));
    }
    const latin = names.map((bytes) => String.fromCharCode(...bytes));
    assert.ok(!latin.includes(".") && !latin.includes(".."));
    assert.ok(!latin.includes("label2idx.json"));
    assert.equal(new Set(latin).size, ids.length);
  }));
});

Deno.test("short names lead back to their ids", () => {
  fc.assert(fc.property(anyId, (id) => {
    const bytes = name(id);
    if (bytes.length === 247) return;
    // The documented encoding, decoded byte by byte.
    const latin = String.fromCharCode(...bytes);
    const raw = latin === "%" ? "" : latin.replace(
      /%([0-9A-F]{2})/g,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    );
    const restored = Uint8Array.from(raw, (char) => char.charCodeAt(0));
    assert.equal(decodeId(restored), id);
  }));
});
