import assert from "node:assert/strict";
import {
  ENTRY,
  writeEntry,
} from "../../../../src/tree/limits/limit_entries.ts";

Deno.test("entries are u64, also those of bags beyond 4 GiB", () => {
  for (
    const end of [
      0,
      1,
      255,
      256,
      2 ** 31,
      2 ** 32 - 1,
      2 ** 32,
      5 * 2 ** 40 + 7,
      2 ** 53 - 1,
    ]
  ) {
    const bytes = new Uint8Array(ENTRY).fill(0xaa);
    writeEntry(bytes, end);
    assert.equal(new DataView(bytes.buffer).getBigUint64(0, true), BigInt(end));
  }
});
