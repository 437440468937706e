/** Entries of an index: 64-bit integers, decoded without BigInt. */
import assert from "node:assert/strict";
import { ENTRY, readEntry } from "../../../src/tree/limits/limit_entries.ts";
import { u64s } from "../../support/bags/make_bag.ts";

Deno.test("an entry is a little-endian u64, at any offset", () => {
  const exact = [0, 1, 255, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 3];
  const values = [...exact, 2 ** 53 - 1];
  for (const shift of [0, 1, 3]) {
    const bytes = new Uint8Array([...new Uint8Array(shift), ...u64s(values)]);
    const read = values.map((_, i) => readEntry(bytes, shift + i * ENTRY));
    assert.deepEqual(read, values);
  }
});

Deno.test("an entry that a number cannot hold is larger than any file", () => {
  for (const value of [2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
    assert.ok(readEntry(u64s([value]), 0) >= 2 ** 53);
  }
});
