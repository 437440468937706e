import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import { ShardedDatasetWriter } from "../../../../src/formats/bags/write/sharded_dataset_writer.ts";
import { pythonCases } from "../../../support/bags/bags_written_by_python.ts";
import { filesBelow, naiveDataset } from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";

const GENERATIONS = [1, 2, 3] as const;
const SPEC = { x: "bytes" };
const x = (number: number) => ({ x: Uint8Array.of(number) });

for (const { name, path, generation } of pythonCases("shards")) {
  Deno.test(`rewriting ${name} gives the original's shards`, async () => {
    const shards = fs.readdirSync(path).sort().map((shard) =>
      naiveDataset(`${path}/${shard}`, generation)
    );
    const expected = filesBelow(path);
    await withTempDir(async (dir) => {
      const options = {
        encoders: null,
        generation,
        // Splits as Python does: after the datapoint that reaches the limit.
        ...name.endsWith("by_size")
          ? { shardSize: smallestSize(path, expected) }
          : { shardLength: shards[0]!.datapoints.length },
      };
      const { spec } = shards[0]!;
      await using writer = await ShardedDatasetWriter.open(
        `${dir}/a`,
        spec,
        options,
      );
      using sync = ShardedDatasetWriter.openSync(`${dir}/b`, spec, options);
      let index = 0;
      for (const datapoint of shards.flatMap(({ datapoints }) => datapoints)) {
        assert.equal(await writer.write(datapoint), index);
        assert.equal(sync.writeSync(datapoint), index++);
        assert.equal(writer.length, index);
      }
      assert.equal(writer.shards, shards.length);
      await writer.close();
      sync.closeSync();
      assert.deepEqual(filesBelow(`${dir}/a`), expected);
      assert.deepEqual(filesBelow(`${dir}/b`), expected);
      let size = 0;
      for (const [name, { length }] of expected) {
        if (!name.endsWith("spec.json")) size += length;
      }
      assert.equal(writer.size, size);
      assert.equal(writer.shards, shards.length);
    });
  });
}

/** Returns a size that all shards but the last reach, and none without its last datapoint. */
function smallestSize(path: string, files: Map<string, Uint8Array>): number {
  const names = fs.readdirSync(path).sort().slice(0, -1);
  return Math.min(
    ...names.map((shard) =>
      [...files].filter(([name]) =>
        name.startsWith(shard) && name.endsWith(".bag")
      )
        .reduce((sum, [, { length }]) => sum + length, 0)
    ),
  );
}

Deno.test("shards end after the datapoint that reaches the size", async () => {
  await withTempDir(async (dir) => {
    // Generation 1 with one key: two indexes of at least 8 bytes, and 8 + 2 (a reference below 128) + 8 + 1 bytes a
    // datapoint.
    const sizes = { 1: [16, 19], 2: [0, 19], 3: [0, 9] } as const;
    for (const generation of GENERATIONS) {
      const [start, each] = sizes[generation];
      for (
        const [shardSize, length] of [[1, 1], [start + 2 * each, 2], [
          start + 2 * each + 1,
          3,
        ]]
      ) {
        const path = `${dir}/${generation}-${shardSize}`;
        const options = { encoders: null, generation, shardSize };
        await using writer = await ShardedDatasetWriter.open(
          path,
          SPEC,
          options,
        );
        for (let i = 0; i < 6; i++) await writer.write(x(i));
        await writer.close();
        const lengths = fs.readdirSync(path).sort().map((shard) =>
          naiveDataset(`${path}/${shard}`, generation).datapoints.length
        );
        assert.deepEqual(lengths, Array(6 / length!).fill(length));
      }
    }
  });
});

Deno.test("several writers share the shards", async () => {
  await withTempDir(async (dir) => {
    for (const generation of GENERATIONS) {
      const path = `${dir}/${generation}`;
      await Promise.all([0, 1, 2].map(async (shardStart) => {
        const options = {
          encoders: null,
          generation,
          shardLength: 2,
          shardStart,
          shardStep: 3,
        };
        await using writer = await ShardedDatasetWriter.open(
          path,
          SPEC,
          options,
        );
        for (let i = 0; i < 4; i++) writer.write(x(10 * shardStart + i));
        await writer.close();
        assert.equal(writer.shards, 2);
      }));
      const shards = fs.readdirSync(path).sort();
      assert.deepEqual(shards, [
        "000000",
        "000001",
        "000002",
        "000003",
        "000004",
        "000005",
      ]);
      const numbers = shards.map((shard) =>
        naiveDataset(`${path}/${shard}`, generation).datapoints.map(({ x }) =>
          x![0]
        )
      );
      assert.deepEqual(numbers, [[0, 1], [10, 11], [20, 21], [2, 3], [12, 13], [
        22,
        23,
      ]]);
    }
  });
});

Deno.test("generation 3 resumes the last shard", async () => {
  await withTempDir(async (dir) => {
    const options = {
      encoders: null,
      shardLength: 3,
      shardStart: 1,
      shardStep: 2,
    };
    const path = `${dir}/a`;
    let length = 0;
    for (const count of [0, 1, 1, 1, 2, 0, 7]) { // also after a shard has just been completed
      await using writer = await ShardedDatasetWriter.open(path, SPEC, options);
      assert.equal(writer.length, length);
      assert.equal(writer.shards, Math.ceil(length / 3));
      const size = 9 * length;
      assert.equal(writer.size, size);
      for (let i = 0; i < count; i++) {
        assert.equal(await writer.write(x(length)), length++);
      }
      await writer.close();
    }
    await using whole = await ShardedDatasetWriter.open(
      `${dir}/b`,
      SPEC,
      options,
    );
    for (let i = 0; i < length; i++) await whole.write(x(i));
    await whole.close();
    assert.deepEqual(filesBelow(path), filesBelow(`${dir}/b`));
    assert.deepEqual(fs.readdirSync(path).sort(), [
      "000001",
      "000003",
      "000005",
      "000007",
    ]);

    fs.renameSync(`${path}/000003`, `${dir}/away`);
    const open = (spec: Record<string, string> = SPEC) =>
      ShardedDatasetWriter.open(path, spec, options);
    await assert.rejects(open(), {
      name: "WriteError",
      code: "missing-shard",
      message: /000003/,
    });
    fs.renameSync(`${dir}/away`, `${path}/000003`);
    await assert.rejects(open({ x: "utf8" }), { code: "spec-differs" });
    fs.truncateSync(`${path}/000003/x.idx`, 12);
    await assert.rejects(open(), {
      code: "incomplete-shard",
      message: /is truncated/,
    });
    await using damaged = await DatasetWriter.open(
      `${path}/000003`,
      SPEC,
      options,
    );
    assert.equal(damaged.length, 1);
  });
});

Deno.test("an incomplete shard is not followed by others", async () => {
  await withTempDir(async (dir) => {
    const options = { encoders: null, shardLength: 1 };
    const spec = { x: "bytes", y: "bytes" };
    const datapoint = { x: Uint8Array.of(1), y: Uint8Array.of(2) };
    await using writer = await ShardedDatasetWriter.open(dir, spec, options);
    for (let i = 0; i < 3; i++) await writer.write(datapoint);
    await writer.close();
    fs.truncateSync(`${dir}/000001/y.idx`, 0);
    const incomplete = {
      name: "WriteError",
      code: "incomplete-shard",
      message: /000001.*'y'/,
    };
    await assert.rejects(
      ShardedDatasetWriter.open(dir, spec, options),
      incomplete,
    );
    fs.unlinkSync(`${dir}/000001/y.idx`);
    await assert.rejects(ShardedDatasetWriter.open(dir, spec, options), {
      ...incomplete,
      message: /y\.idx is missing/,
    });
    fs.unlinkSync(`${dir}/000001/spec.json`);
    await assert.rejects(ShardedDatasetWriter.open(dir, spec, options), {
      ...incomplete,
      message: /spec\.json/,
    });
  });
});

Deno.test("generations 1 and 2 replace no shard, and do not change others", async () => {
  await withTempDir(async (dir) => {
    for (const generation of [1, 2] as const) {
      const path = `${dir}/${generation}`;
      const options = { encoders: null, generation, shardLength: 1 };
      await using writer = await ShardedDatasetWriter.open(path, SPEC, {
        ...options,
        shardStart: 1,
        shardStep: 2,
      });
      await writer.write(x(1));
      await writer.write(x(3));
      assert.ok(fs.existsSync(`${path}/000001`)); // while the next one is written
      assert.ok(!fs.existsSync(`${path}/000003`));
      await writer.close();
      const before = filesBelow(path);
      const exists = { name: "WriteError", code: "exists", message: /000003/ };
      await assert.rejects(
        ShardedDatasetWriter.open(path, SPEC, options),
        exists,
      );
      assert.deepEqual(filesBelow(path), before);
      await using even = await ShardedDatasetWriter.open(path, SPEC, {
        ...options,
        shardStep: 2,
      });
      await even.write(x(0));
      await even.close();
      assert.deepEqual(fs.readdirSync(path).sort(), [
        "000000",
        "000001",
        "000003",
      ]);
    }
  });
});

Deno.test("a datapoint that cannot be written creates no shard", async () => {
  await withTempDir(async (dir) => {
    for (const generation of [1, 2] as const) {
      const path = `${dir}/${generation}`;
      const options = { encoders: null, generation, shardLength: 2 };
      await using writer = await ShardedDatasetWriter.open(path, SPEC, options);
      for (let i = 0; i < 2; i++) await writer.write(x(i));
      await assert.rejects(writer.write({ x: "text" }), { code: "bad-value" });
      assert.equal(writer.shards, 1);
      assert.equal(writer.length, 2);
      await writer.close();
      assert.deepEqual(fs.readdirSync(path), ["000000"]);
    }
  });
});

Deno.test("invalid limits are rejected", async () => {
  await withTempDir(async (dir) => {
    for (
      const limits of [
        { shardLength: 0 },
        { shardLength: 1.5 },
        { shardSize: -1 },
        { shardStart: -1 },
        { shardLength: 1, shardStep: 0 },
        { shardStart: 1 },
        { shardStep: 2 },
      ]
    ) {
      const options = { encoders: null, ...limits };
      await assert.rejects(
        ShardedDatasetWriter.open(`${dir}/a`, SPEC, options),
        RangeError,
      );
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    await using writer = await DatasetWriter.open(`${dir}/a`, SPEC, {
      encoders: null,
    });
    await writer.close();
    const open = ShardedDatasetWriter.open(`${dir}/a`, SPEC, {
      encoders: null,
    });
    await assert.rejects(open, { code: "exists", message: /without shards/ });
  });
});
