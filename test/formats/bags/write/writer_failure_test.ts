/** Bags and datasets on a full or read-only disk. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { BagWriter } from "../../../../src/formats/bags/write/bag_writer.ts";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import { ShardedDatasetWriter } from "../../../../src/formats/bags/write/sharded_dataset_writer.ts";
import {
  filesBelow,
  naiveBag,
  naiveDataset,
} from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";

const GENERATIONS = [1, 2, 3] as const;
const FULL = { name: "WriteError", code: "ENOSPC", message: /disk is full/ };
const SPEC = { a: "bytes", b: "bytes", c: "bytes" };

/** Returns distinct datapoints of about 100 KB. */
function datapoint(i: number) {
  return {
    a: new Uint8Array(20_000).fill(i),
    b: Uint8Array.of(i),
    c: new Uint8Array(80_000).fill(i + 1),
  };
}

for (const generation of GENERATIONS) {
  Deno.test({
    name:
      `a full disk leaves a dataset of generation ${generation} at the previous datapoint`,
    ...needs("root"),
    async fn() {
      await withTmpfs("6m", async (dir) => {
        const path = `${dir}/data`;
        const filler = `${dir}/filler`;
        fs.writeFileSync(filler, new Uint8Array(3_000_000));
        const options = { encoders: null, generation };
        await using writer = await DatasetWriter.open(path, SPEC, options);
        let length = 0;
        await assert.rejects(async () => {
          for (;; length++) {
            await writer.write(datapoint(length));
            await writer.flush();
          }
        }, FULL);
        // The datapoint that failed may have been buffered before the failed flush.
        assert.ok(writer.length === length || writer.length === length + 1);
        if (generation === 3) {
          const { datapoints } = naiveDataset(path, 3);
          assert.ok(datapoints.length >= length - 1);
          datapoints.forEach((values, i) =>
            assert.deepEqual(values, datapoint(i))
          );
        }
        fs.unlinkSync(filler);
        for (let i = writer.length; i < length + 5; i++) {
          await writer.write(datapoint(i));
        }
        await writer.close();
        const { datapoints } = naiveDataset(path, generation);
        assert.equal(datapoints.length, length + 5);
        datapoints.forEach((values, i) =>
          assert.deepEqual(values, datapoint(i))
        );
        const data = [...filesBelow(path).values()].reduce(
          (sum, { length }) => sum + length,
          0,
        );
        assert.ok(data < 100_001 * (length + 5) + 2000, `${data}`); // failed writes left nothing
      });
    },
  });
}

Deno.test({
  name:
    "a full disk leaves nothing of generations 1 and 2, and a resumable dataset of generation 3",
  ...needs("root"),
  async fn() {
    await withTmpfs("2m", async (dir) => {
      for (const generation of GENERATIONS) {
        const options = { encoders: null, generation };
        const path = `${dir}/data`;
        const writer = await DatasetWriter.open(path, SPEC, options);
        await assert.rejects(async () => {
          for (let i = 0;; i++) await writer.write(datapoint(i));
        }, FULL);
        const { length } = writer;
        assert.ok(length > 5);
        await assert.rejects(writer.close(), FULL);
        if (generation < 3) assert.deepEqual(fs.readdirSync(dir), []);
        else {
          using again = DatasetWriter.openSync(path, SPEC, options);
          assert.ok(again.length > 5 && again.length <= length);
          again.abort();
          fs.rmSync(path, { recursive: true });
        }

        // Room for the records, but not for records and index.
        const bag = `${dir}/a.bag`;
        using many = BagWriter.openSync(bag, { generation });
        assert.throws(() => {
          for (let i = 0; i < 200_000; i++) many.writeSync(Uint8Array.of(i));
          many.writeSync(new Uint8Array(900_000));
          many.closeSync();
        }, FULL);
        many.abort();
        if (generation < 3) assert.deepEqual(fs.readdirSync(dir), []);
        else {
          const records = naiveBag(bag, 3);
          records.slice(0, 200_000).forEach((record, i) =>
            assert.equal(record[0], i % 256)
          );
          for (const name of fs.readdirSync(dir)) {
            fs.unlinkSync(`${dir}/${name}`);
          }
        }
      }
    });
  },
});

Deno.test({
  name: "a shard that does not fit can be completed when there is room again",
  ...needs("root"),
  async fn() {
    for (const generation of GENERATIONS) {
      await withTmpfs("6m", async (dir) => {
        const filler = `${dir}/filler`;
        fs.writeFileSync(filler, new Uint8Array(5_000_000));
        const path = `${dir}/data`;
        const options = { encoders: null, generation, shardLength: 8 };
        await using writer = await ShardedDatasetWriter.open(
          path,
          SPEC,
          options,
        );
        for (let i = 0; i < 8; i++) await writer.write(datapoint(i)); // buffered
        fs.appendFileSync(filler, new Uint8Array(900_000));
        await assert.rejects(writer.write(datapoint(8)), FULL);
        assert.equal(writer.length, 8);
        fs.unlinkSync(filler);
        for (let i = 8; i < 12; i++) {
          assert.equal(await writer.write(datapoint(i)), i);
        }
        await writer.close();
        const datapoints = ["000000", "000001"].flatMap((name) =>
          naiveDataset(`${path}/${name}`, generation).datapoints
        );
        assert.equal(datapoints.length, 12);
        datapoints.forEach((values, i) =>
          assert.deepEqual(values, datapoint(i))
        );
      });
    }
  },
});

Deno.test({
  name: "a read-only file system is reported",
  ...needs("root"),
  async fn() {
    await withTmpfs("8m", async (dir, remount) => {
      const options = { encoders: null };
      (await DatasetWriter.open(`${dir}/there`, SPEC, options)).abort();
      await remount("ro");
      const readOnly = {
        name: "WriteError",
        code: "EROFS",
        message: /read-only/,
      };
      for (const generation of GENERATIONS) {
        await assert.rejects(
          BagWriter.open(`${dir}/a.bag`, { generation }),
          readOnly,
        );
        const own = { encoders: null, generation };
        await assert.rejects(
          DatasetWriter.open(`${dir}/new`, SPEC, own),
          readOnly,
        );
        await assert.rejects(
          ShardedDatasetWriter.open(`${dir}/new`, SPEC, own),
          readOnly,
        );
      }
      await assert.rejects(
        DatasetWriter.open(`${dir}/there`, SPEC, options),
        readOnly,
      );
    });
  },
});

Deno.test("leaving a block without closing leaves nothing, or only the flushed part", async () => {
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const path = `${dir}/${generation}`;
      await assert.rejects(async () => {
        await using writer = await DatasetWriter.open(path, SPEC, {
          encoders: null,
          generation,
        });
        await writer.write(datapoint(0));
        await writer.flush();
        await writer.write(datapoint(1));
        writer.write({ ...datapoint(2), c: new Uint8Array(3_000_000) }).catch(
          () => {},
        ); // in progress
        throw new Error("out of the block");
      }, /out of the block/);
      if (generation < 3) continue;
      const { datapoints } = naiveDataset(path, 3);
      datapoints.forEach((values, i) => assert.deepEqual(values, datapoint(i)));
      assert.ok(datapoints.length >= 1);
    }
    assert.deepEqual(fs.readdirSync(dir), ["3"]);
  });
});
