import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { BatchMemory, BufferPool } from "../../src/data/batch_memory.ts";

Deno.test("pieces of a batch start at multiples of 8, and share no bytes", () => {
  fc.assert(fc.property(fc.array(fc.nat(100)), (lengths) => {
    const memory = new BatchMemory();
    const pieces = lengths.map((length) => memory.take(length));
    assert.deepEqual(pieces.map(({ length }) => length), lengths);
    pieces.forEach((piece, i) => piece.fill(i % 256));
    pieces.forEach((piece, i) => {
      assert.equal(piece.byteOffset % 8, 0);
      assert.ok(piece.every((byte) => byte === i % 256));
      assert.ok(memory.buffers.includes(piece.buffer));
    });
  }));
});

Deno.test("buffers that were returned are used again, others are not", () => {
  const pool = new BufferPool();
  const first = new BatchMemory(pool);
  const { buffer } = first.take(1000);
  const second = new BatchMemory(pool);
  assert.notEqual(second.take(1000).buffer, buffer);
  first.free();
  assert.deepEqual(first.buffers, []);
  assert.equal(pool.size, buffer.byteLength);
  const third = new BatchMemory(pool);
  assert.equal(third.take(900).buffer, buffer);
  assert.equal(third.take(50).buffer, buffer);
  assert.equal(pool.size, 0);
  structuredClone(buffer, { transfer: [buffer] }); // detaches it, as posting to another thread does
  third.free();
  assert.equal(pool.size, 0);
  assert.equal(new BatchMemory(pool).take(8).buffer.detached, false);
});

Deno.test("a pool returns the smallest buffer that is large enough, and keeps the largest few", () => {
  const pool = new BufferPool(3);
  const sizes = [64, 16, 128, 32, 8];
  const buffers = sizes.map((size) => new ArrayBuffer(size));
  for (const buffer of buffers) pool.give(buffer);
  pool.give(buffers[0]!); // giving it twice has no effect
  assert.equal(pool.size, 64 + 128 + 32);
  assert.equal(pool.take(33), buffers[0]);
  assert.equal(pool.take(8), buffers[3]);
  const large = pool.take(129);
  assert.ok(large.byteLength >= 129);
  assert.equal(pool.size, 0); // the remaining buffer was too small and was evicted
  assert.equal(new BufferPool(0).size, 0);
  const none = new BufferPool(0);
  none.give(large);
  assert.equal(none.size, 0);
});

Deno.test("a batch that exceeds the memory is rejected with a readable message", () => {
  assert.throws(() => new BatchMemory().take(2 ** 52), {
    name: "RecordfsError",
    code: "too-large",
    message: /out of memory\. Make the batches smaller/,
  });
});
