/** Guarantees of a bag reader beyond the records themselves. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { IndexError } from "../../../../src/base/errors.ts";
import { BagReader, RecordMemory } from "../../../../src/formats/bags/mod.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../../../src/tree/samples/samples_reader.ts";
import { u64s, writeBag } from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

const records = [[1, 2, 3], [4], [], [5, 6]].map((of) => Uint8Array.from(of));

Deno.test("a cached index takes 8 bytes per record, an uncached one none", async () => {
  await withTempDir((dir) => {
    const count = 4_000_000;
    fs.writeFileSync(`${dir}/a.bag`, "");
    fs.writeFileSync(`${dir}/a.idx`, "");
    fs.truncateSync(`${dir}/a.idx`, 8 * count); // empty records
    const taken = (cacheIndex: boolean) => {
      const before = Deno.memoryUsage().external;
      using bag = BagReader.openSync(`${dir}/a.bag`, { cacheIndex });
      assert.equal(bag.getSync(count - 1).length, 0);
      return (Deno.memoryUsage().external - before) / count;
    };
    assert.equal(Math.round(taken(true)), 8);
    assert.equal(Math.round(taken(false)), 0);
  });
});

Deno.test("records that were read belong to the caller, those in reused memory do not", async () => {
  await withTempDir(async (dir) => {
    writeBag(`${dir}/a.bag`, records, 2);
    using bag = await BagReader.open(`${dir}/a.bag`);
    const memory = new RecordMemory();
    for (const [i, record] of records.entries()) {
      for (const bytes of [bag.getSync(i), await bag.get(i)]) {
        assert.deepEqual(bytes, record);
        bytes.fill(9);
      }
      assert.deepEqual(bag.getSync(i, { memory }), record);
    }
    const small = records.map((_, i) => bag.getSync(i));
    small[3]!.fill(7); // shares a buffer with others, but no bytes
    assert.deepEqual(small.slice(0, 3), records.slice(0, 3));
    assert.ok(small.every(({ byteOffset }) => byteOffset % 8 === 0));
    structuredClone(small[0]!.buffer, { transfer: [small[0]!.buffer] });
    assert.deepEqual([bag.getSync(1), ...bag.readSync([0])], [
      records[1],
      records[0],
    ]);
    const [first, again] = bag.readSync([0, 0]);
    first!.fill(9);
    assert.deepEqual(again, records[0]);
    const before = bag.getSync(0, { memory });
    bag.getSync(3, { memory });
    assert.deepEqual([...before], [5, 6, 3]);
    // A buffer that was transferred to another thread is not reused.
    structuredClone(before.buffer, { transfer: [before.buffer] });
    assert.deepEqual(bag.readSync([3, 0], { memory }), [
      records[3],
      records[0],
    ]);
  });
});

Deno.test("records are sent to other threads without the records read with them", async () => {
  await withTempDir(async (dir) => {
    writeBag(`${dir}/a.bag`, records, 2);
    using bag = await BagReader.open(`${dir}/a.bag`);
    const order = [3, 0, 1, 0];
    const ways = [
      order.map((i) => bag.getSync(i)),
      await Promise.all(order.map((i) => bag.get(i))),
      bag.readSync(order),
      await bag.read(order),
    ];
    for (const [first, ...others] of ways) {
      assert.equal(first!.buffer.byteLength, first!.length);
      const moved = structuredClone(first, { transfer: [first!.buffer] });
      assert.deepEqual(moved, records[3]);
      assert.deepEqual(others, order.slice(1).map((i) => records[i]));
    }
  });
});

Deno.test("numbers in reused memory are aligned for views", () => {
  const memory = new RecordMemory();
  memory.take(1000);
  memory.take(3);
  for (const length of [5, 8, 0, 1, 16]) {
    assert.equal(memory.takeMore(length).byteOffset % 8, 0);
  }
});

Deno.test("records that do not exist, a closed bag and a signal are errors", async () => {
  await withTempDir(async (dir) => {
    writeBag(`${dir}/a.bag`, records, 1);
    const bag = BagReader.openSync(`${dir}/a.bag`);
    for (const index of [-1, 4, 1.5, NaN, 2 ** 53]) {
      assert.throws(() => bag.getSync(index), IndexError);
      assert.throws(() => bag.readSync([0, index]), IndexError);
    }
    assert.throws(() => bag.getSync(4), {
      index: 4,
      length: 4,
      message:
        `Cannot read record 4 of ${dir}/a.bag: index out of range: valid indices are 0 to 3`,
    });
    assert.deepEqual(bag.rangeSync(4, 9), []);
    assert.deepEqual(bag.rangeSync(7, 9), []);
    assert.throws(() => bag.rangeSync(2, 1), RangeError);
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(bag.get(0, { signal }), /enough/);
    await assert.rejects(bag.read([0], { signal }), /enough/);
    await assert.rejects(bag.range(0, 1, { signal }), /enough/);
    await assert.rejects(BagReader.open(bag.path, { signal }), /enough/);
    bag.close();
    bag.close(); // closing twice is harmless
    for (const read of [() => bag.getSync(2), () => bag.rangeSync(0, 0)]) {
      assert.throws(read, { code: "closed" });
    }
    await assert.rejects(bag.read([]), { code: "closed" });
  });
});

Deno.test("a reader is read in batches, and another thread opens it by the same index", async () => {
  await withTempDir(async (dir) => {
    const lengths = records.map(({ length }) => length);
    fs.writeFileSync(`${dir}/a.bag`, Buffer.concat(records));
    fs.writeFileSync(`${dir}/a.idx`, ""); // an index without records
    const ends = lengths.map((_, i) =>
      lengths.slice(0, i + 1).reduce((sum, length) => sum + length)
    );
    fs.writeFileSync(`${dir}/elsewhere`, u64s(ends));
    const index = `${dir}/elsewhere`;
    using bag = await BagReader.open(`${dir}/a.bag`, { index });
    const batches = await Array.fromAsync(bag.batches({ batch: 3 }));
    assert.deepEqual(batches, [records.slice(0, 3), records.slice(3)]);
    assert.equal(bag.fileOf(3), `${dir}/a.bag`);
    assert.throws(() => bag.fileOf(4), IndexError);
    assert.equal(bag.prefetch([0, 3, 9]), 0); // no effect on a local file
    const samples = await reopenSamples(structuredClone(bag.share()));
    using again = new SamplesReader(samples);
    assert.deepEqual(await again.read([3, 0]), [records[3], records[0]]);
    fs.truncateSync(index, 8);
    const shared = structuredClone(bag.share());
    await assert.rejects(reopenSamples(shared), { code: "changed" });
  });
});
