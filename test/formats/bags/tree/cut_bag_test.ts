/** Truncated bags of generation 3: their indexes are separate files, and identify the remaining records. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { LOCAL_DISK } from "../../../../src/io/storage/storage.ts";
import { BagDataset } from "../../../../src/formats/bags/data/bag_dataset.ts";
import { BagReader } from "../../../../src/formats/bags/mod.ts";
import { check, open } from "../../../../src/open/open.ts";
import { writeDataset } from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";
import { slowStorage } from "../../../support/slow_storage.ts";

/** Returns a bag of records of these lengths, truncated to `bytes` bytes, and its index. */
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

Deno.test("of a bag truncated anywhere, the records before the truncation are read, and the others are named", async () => {
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
        /^Cannot read '(\d+)' in a\.bag: .*truncated/.exec(line)?.[1]
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

Deno.test("the truncation of a remote bag is found in its index, page by page", async () => {
  const lengths = Array<number>(3000).fill(10);
  const warnings: string[] = [];
  using fs = await open("a.bag", {
    storage: slowStorage(5, cutBag(lengths, 12_345)),
    onWarning: (line) => warnings.push(line),
  });
  assert.equal(fs.info.facts?.["unreadable"], 3000 - 1234);
  assert.equal(warnings.length, 3000 - 1234);
  assert.match(warnings[0]!, /Cannot read '001234' in /);
  assert.equal((await fs.read("001233")).length, 10);
  await assert.rejects(fs.read("002999"), { member: "002999" });
});

Deno.test("a dataset names the truncated bag, however it is opened, and check fails", async () => {
  for (const shards of [1, 2]) {
    await withTempDir(async (dir) => {
      const paths = shards === 1 ? [dir] : [`${dir}/000000`, `${dir}/000001`];
      for (const path of paths) {
        const datapoints = [1, 2, 3].map((n) => ({
          a: new Uint8Array(10).fill(n),
          b: Uint8Array.of(n),
        }));
        writeDataset(path, { a: "bytes", b: "bytes" }, datapoints, 3);
      }
      const bag = `${paths.at(-1)}/a.bag`;
      await Deno.truncate(bag, 15);
      const warnings: string[] = [];
      const onWarning = (message: string) => void warnings.push(message);
      const isSaid = () => {
        assert.equal(warnings.length, 1);
        assert.match(
          warnings.splice(0)[0]!,
          /the last 2 of the 3 records of .*a\.bag: .*byte 30 of 15: /,
        );
      };
      using container = await open(dir, { onWarning });
      isSaid();
      const { unreadable, facts } = container.info;
      assert.deepEqual(unreadable!.map(({ archive }) => archive), [bag]);
      assert.equal(facts!["unreadable"], 1);
      using dataset = await BagDataset.open(dir, { onWarning });
      isSaid();
      using _far = await BagDataset.open(dir, {
        onWarning,
        cacheIndex: false,
        storage: slowStorage(3, LOCAL_DISK),
      });
      isSaid();
      using _alone = BagReader.openSync(bag, { onWarning });
      isSaid();
      const last = dataset.length - 1;
      assert.equal(dataset.length, 3 * shards);
      assert.equal((await dataset.get([last - 2])).length, 1);
      await assert.rejects(dataset.get([last]), { code: "bad-index" });
      const report = await check(dir, { onDamage() {}, onWarning });
      assert.equal(report.damaged, 2); // the incomplete records
    });
  }
});

Deno.test("a truncated index is reported to shift datapoints of later shards, and a loader's state detects it", async () => {
  await withTempDir(async (dir) => {
    for (const shard of [0, 1]) {
      const datapoints = [1, 2, 3].map((n) => ({
        a: Uint8Array.of(n),
        b: Uint8Array.of(n),
      }));
      const spec = { a: "bytes", b: "bytes" };
      writeDataset(`${dir}/00000${shard}`, spec, datapoints, 3);
    }
    await Deno.truncate(`${dir}/000000/a.idx`, 19);
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    using dataset = await BagDataset.open(dir, { onWarning });
    assert.deepEqual(dataset.shardLengths, [2, 3]);
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0]!,
      /a\.idx: the index is truncated: its last 3 bytes/,
    );
    assert.match(
      warnings[1]!,
      /only 2 datapoints are complete.*datapoints of later shards have other/,
    );
    const report = await check(dir, { onDamage() {}, onWarning() {} });
    assert.equal(report.damaged, 2); // the truncated entry, and the differing numbers of records
  });
});
