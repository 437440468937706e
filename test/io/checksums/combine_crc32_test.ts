import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { combineCrc32 } from "../../../src/io/checksums/combine_crc32.ts";

Deno.test("the checksum of two runs can be combined", () => {
  const runs = fc.uint8Array({ maxLength: 500 });
  const property = fc.property(runs, runs, (first, second) => {
    assert.equal(
      combineCrc32("crc32", crc32(first), crc32(second), second.length),
      crc32(second, crc32(first)),
    );
  });
  fc.assert(property, { numRuns: 500, seed: 1 });
});

Deno.test("lengths may be beyond 32 bits", () => {
  // Eight gigabytes of zeros, combined one by one and by halves.
  const zeros = new Uint8Array(1 << 20);
  let gigabyte = 0;
  for (let i = 0; i < 1024; i++) gigabyte = crc32(zeros, gigabyte);
  let left = gigabyte;
  for (let i = 1; i < 8; i++) {
    left = combineCrc32("crc32", left, gigabyte, 2 ** 30);
  }
  let right = gigabyte;
  for (const length of [2 ** 30, 2 ** 31, 2 ** 32]) {
    right = combineCrc32("crc32", right, right, length);
  }
  assert.equal(left, right);
});
