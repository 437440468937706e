import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FULL, LONG } from "./support/long.ts";
import fc from "./support/random.ts";
import {
  byCodePoint,
  decodeName,
  encodeName,
  sortNames,
} from "../src/base/names.ts";
import { goldenCase } from "./support/golden.ts";

Deno.test("any bytes survive decoding and encoding", () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const utf8 = fc.string({ unit: "binary" }).map((s) =>
    new TextEncoder().encode(s)
  );
  const mixed = fc.array(fc.oneof(bytes, utf8), { maxLength: 5 })
    .map((parts) => new Uint8Array(Buffer.concat(parts)));
  fc.assert(
    fc.property(mixed, (name) => {
      assert.deepEqual(encodeName(decodeName(name)), name);
    }),
    { numRuns: LONG ? 2000 : FULL ? 500 : 200 },
  );
});

Deno.test("UTF-8 decodes as usual", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const bytes = new TextEncoder().encode(name);
      assert.equal(decodeName(bytes), name);
      assert.deepEqual(encodeName(name), bytes);
    }),
  );
});

Deno.test("other bytes become surrogates like in Python's os.fsdecode", () => {
  const { content } = goldenCase("ffrecord/packed_not_utf8_names");
  const entries = content.entries.filter((entry) =>
    entry.path_bytes !== undefined
  );
  assert.ok(entries.length >= 8);
  for (const { path, path_bytes: hex } of entries) {
    const bytes = new Uint8Array(Buffer.from(hex!, "hex"));
    assert.equal(decodeName(bytes), path);
    assert.deepEqual(encodeName(path), bytes);
  }
});

Deno.test("names in shared memory decode too", () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(8));
  bytes.set([0x61, 0xc3, 0xa9, 0xff]);
  assert.equal(decodeName(bytes, 0, 3), "aé");
  assert.equal(decodeName(bytes, 0, 4), "aé\udcff");
});

Deno.test("strings sort by code point, like in Python", () => {
  // Lone surrogates sort between U+D7FF and U+E000, and pairs after U+FFFF.
  const sorted = [
    "",
    "a",
    "a\ud800",
    "a\uffff",
    "a\u{10000}",
    "a\u{10000}b",
    "b",
    "\ud83d",
    "\udc80",
    "\ue000",
    "\uffff",
    "\u{10000}",
    "\u{1f600}",
  ];
  for (let i = 0; i < sorted.length; i++) {
    for (let k = 0; k < sorted.length; k++) {
      const order = Math.sign(byCodePoint(sorted[i]!, sorted[k]!));
      assert.equal(order, Math.sign(i - k), `${i} ${k}`);
    }
  }
});

Deno.test("names are sorted by code point, which equals the order of their UTF-8", () => {
  const names = fc.array(fc.string({ unit: "binary", maxLength: 6 }));
  fc.assert(
    fc.property(names, (names) => {
      const sorted = names.map((name) => Buffer.from(name))
        .sort(Buffer.compare).map(String);
      assert.deepEqual(sortNames([...names]), sorted);
    }),
  );
  assert.deepEqual(sortNames(["\u{1f600}", "\uffff", "a"]), [
    "a",
    "\uffff",
    "\u{1f600}",
  ]);
});
