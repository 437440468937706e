/** Bags of generation 3 that were cut: their indexes lie beside them, and tell which records are left. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/mod.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

/** A bag of records of these lengths, of which so many bytes are there, and its index. */
function cutBag(lengths: readonly number[], bytes: number): MemoryStorage {
  const index = Buffer.alloc(8 * lengths.length);
  let end = 0;
  for (const [i, length] of lengths.entries()) {
    index.writeBigUInt64LE(BigInt(end += length), 8 * i);
  }
  return new MemoryStorage({
    "a.bag": new Uint8Array(bytes).map((_, i) => i % 251),
    "a.idx": new Uint8Array(index),
  });
}

Deno.test("of a bag that was cut anywhere, the records before are read, and the others are named", async () => {
  const lengths = [3, 1, 0, 5, 2];
  const ends = [3, 4, 4, 9, 11];
  for (let bytes = 0; bytes <= 11; bytes++) {
    const whole = ends.filter((end) => end <= bytes).length;
    const warnings: string[] = [];
    using fs = await open("a.bag", {
      storage: cutBag(lengths, bytes),
      onWarning: (line) => warnings.push(line),
    });
    const cut = ["000000", "000001", "000002", "000003", "000004"]
      .slice(whole);
    assert.deepEqual(
      warnings.map((line) =>
        /^a\.bag: '(\d+)' cannot be read: .*truncated/.exec(line)?.[1]
      ),
      cut,
    );
    assert.equal(fs.info.facts?.["unreadable"] ?? 0, cut.length);
    for (const [i, length] of lengths.entries()) {
      const path = `00000${i}`;
      assert.equal((await fs.stat(path)).size, length);
      if (i >= whole) {
        await assert.rejects(fs.read(path), { member: path });
        continue;
      }
      const start = ends[i]! - length;
      const read = await fs.read(path);
      assert.deepEqual(
        [...read],
        Array.from({ length }, (_, at) => start + at),
      );
    }
  }
});

Deno.test("what a bag far away was cut before is told by its index, page by page", async () => {
  const lengths = Array<number>(3000).fill(10);
  const warnings: string[] = [];
  using fs = await open("a.bag", {
    storage: slowStorage(5, cutBag(lengths, 12_345)),
    onWarning: (line) => warnings.push(line),
  });
  assert.equal(fs.info.facts?.["unreadable"], 3000 - 1234);
  assert.equal(warnings.length, 3000 - 1234);
  assert.match(warnings[0]!, /'001234' cannot be read/);
  assert.equal((await fs.read("001233")).length, 10);
  await assert.rejects(fs.read("002999"), { member: "002999" });
});
