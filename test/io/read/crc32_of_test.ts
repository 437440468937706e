import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { crc32Of } from "../../../src/io/read/crc32_of.ts";
import { FULL } from "../../support/long.ts";

Deno.test("the check value of CRC-32 is correct", () => {
  assert.equal(crc32Of(new TextEncoder().encode("123456789")), 0xcbf43926);
});

const name = "the CRC of more than 4 GiB is that of its pieces";
Deno.test(name, { ignore: !FULL }, () => {
  const bytes = new Uint8Array(2 ** 32 + 5); // untouched zero pages take no memory
  const piece = new Uint8Array(1 << 20);
  let expected = 0;
  for (let i = 0; i < 4096; i++) expected = crc32(piece, expected);
  expected = crc32(new Uint8Array(5), expected);
  assert.equal(crc32Of(bytes), expected);
});
