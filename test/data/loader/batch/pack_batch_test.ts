import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { BatchMemory } from "../../../../src/data/batch_memory.ts";
import { transferable } from "../../../../src/data/loader/threads/messages.ts";
import { packBatch } from "../../../../src/data/loader/batch/pack_batch.ts";

function newMemory() {
  return { samples: new BatchMemory(), batch: new BatchMemory() };
}

/** Returns what arrives in another thread. */
function arrived({ batch, buffers }: ReturnType<typeof packBatch>): unknown {
  return structuredClone(batch, { transfer: transferable(buffers) });
}

Deno.test("the loader's memory is passed without a copy", () => {
  const memory = newMemory();
  const batch = [memory.samples.take(3), memory.samples.take(5)];
  batch[1]!.fill(7);
  const packed = packBatch(batch, undefined, memory);
  assert.equal(packed.batch, batch);
  assert.deepEqual(packed.buffers, [...memory.samples.buffers]);
  const [, second] = arrived(packed) as Uint8Array[];
  assert.deepEqual(second, new Uint8Array(5).fill(7));
  assert.ok(batch[0]!.buffer.detached);
});

Deno.test("memory that may belong to the dataset is copied, wherever it is in the batch", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(1);
  const large = new Float32Array(1000).fill(2);
  const view = large.subarray(10, 13);
  const itself: Record<string, unknown> = { date: new Date(5), text: "t" };
  itself.itself = itself;
  const batch = {
    shared,
    list: [view, view],
    map: new Map<unknown, unknown>([["k", new Set([new BigInt64Array([3n])])]]),
    buffer: new Uint8Array([4, 5]).buffer,
    view: new DataView(new Uint8Array([6, 7, 8]).buffer, 1),
    bytes: Buffer.from("abc"),
    itself,
  };
  const packed = packBatch(batch, undefined, newMemory());
  assert.equal(packed.buffers.length, 1); // one copy of all of them
  const there = arrived(packed) as typeof batch;
  assert.deepEqual(there.shared, new Uint8Array(4).fill(1));
  assert.ok((there.shared.buffer as unknown) instanceof ArrayBuffer);
  assert.deepEqual(there.list[0], new Float32Array(3).fill(2));
  assert.equal(there.list[0], there.list[1]);
  assert.deepEqual(
    [...there.map.get("k") as Set<unknown>],
    [new BigInt64Array([3n])],
  );
  assert.deepEqual(new Uint8Array(there.buffer), new Uint8Array([4, 5]));
  assert.deepEqual([there.view.getUint8(0), there.view.byteLength], [7, 2]);
  assert.deepEqual([...there.bytes], [97, 98, 99]);
  assert.equal(there.itself.itself, there.itself);
  assert.deepEqual(there.itself.date, new Date(5));
  // The dataset's memory was not detached here.
  assert.equal(view[2], 2);
  assert.equal(shared[3], 1);
  assert.equal(batch.bytes.toString(), "abc");
  assert.equal(batch.buffer.byteLength, 2);
});

Deno.test("collated memory is passed without a copy; memory of the collating function's input is copied", () => {
  const kept = new Float64Array([1, 2]);
  const made = new Float64Array([3, 4]);
  const half = new Float64Array([5, 6, 7, 8]).subarray(1, 3);
  const packed = packBatch({ kept, made, half }, [{ kept }], newMemory());
  assert.ok(packed.buffers.includes(made.buffer));
  assert.deepEqual(arrived(packed), {
    kept: new Float64Array([1, 2]),
    made: new Float64Array([3, 4]),
    half: new Float64Array([6, 7]),
  });
  assert.ok(made.buffer.detached);
  assert.deepEqual(kept, new Float64Array([1, 2]));
  assert.equal(half.length, 2);
});
