import assert from "node:assert/strict";
import { ownBytes } from "../../src/io/own_bytes.ts";

Deno.test("small bytes are neighbours that share none, and begin where numbers may", () => {
  const lengths = Array.from({ length: 500 }, (_, i) => (i * 37) % 4097);
  const all = lengths.map((length, i) => ownBytes(length).fill(i));
  for (const [i, bytes] of all.entries()) {
    assert.equal(bytes.length, lengths[i]);
    assert.equal(bytes.byteOffset % 8, 0);
    assert.ok(bytes.every((byte) => byte === i % 256));
  }
  assert.ok(new Set(all.map(({ buffer }) => buffer)).size < all.length / 2);
});

Deno.test("longer bytes have a buffer of their own", () => {
  for (const length of [4097, 100_000]) {
    assert.equal(ownBytes(length).buffer.byteLength, length);
  }
});

Deno.test("a buffer that went to another thread is not handed out", () => {
  const { buffer } = ownBytes(8);
  structuredClone(buffer, { transfer: [buffer] });
  assert.equal(ownBytes(8).fill(1).length, 8);
  assert.equal(ownBytes(0).length, 0);
});
