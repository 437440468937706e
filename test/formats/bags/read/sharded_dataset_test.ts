/** Shards as one sequence of datapoints. */
import assert from "node:assert/strict";
import { FormatError, IndexError } from "../../../../src/base/errors.ts";
import {
  type Generation,
  RecordMemory,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { decoders } from "../../../support/bags/bag_decoders.ts";
import { type Records, writeDataset } from "../../../support/bags/make_bag.ts";
import { FULL, LONG } from "../../../support/long.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

const name = (shard: number) => String(shard).padStart(6, "0");

/** Writes shards of the given numbers of datapoints, numbered across all shards. */
function writeShards(
  dir: string,
  lengths: readonly number[],
  generation: Generation = 3,
): void {
  let n = 0;
  lengths.forEach((length, shard) => {
    const datapoints = Array.from({ length }, (): Records => ({
      n: Uint8Array.of(n++),
    }));
    writeDataset(`${dir}/${name(shard)}`, { n: "int" }, datapoints, generation);
  });
}

Deno.test("datapoints are found in their shards, empty ones among them", async () => {
  for (const generation of [1, 2, 3] as const) {
    await withTempDir(async (dir) => {
      writeShards(dir, [0, 3, 0, 0, 1, 2, 0], generation);
      using reader = await ShardedDatasetReader.open(dir, { decoders });
      assert.deepEqual([reader.shards, reader.length], [7, 6]);
      assert.equal(reader.generation, generation);
      for (let i = 0; i < 6; i++) {
        assert.deepEqual(reader.getSync(i), { n: i });
        assert.deepEqual(await reader.get(i), { n: i });
        assert.deepEqual(reader.availableSync(i), { n: true });
      }
      const numbers = [0, 1, 2, 3, 4, 5];
      for (const start of [...numbers, 6, 7]) {
        for (const stop of [...numbers, 6, 9].filter((stop) => stop >= start)) {
          const memory = new RecordMemory();
          const expected = { n: numbers.slice(start, stop) };
          assert.deepEqual(reader.rangeSync(start, stop), expected);
          const range = await reader.range(start, stop, ["n"], { memory });
          assert.deepEqual(range, expected);
        }
      }
      const isIndexError = (error: unknown) => {
        assert.ok(error instanceof IndexError);
        assert.deepEqual([error.index, error.length], [6, 6]);
        assert.ok(
          error.message.includes(`Cannot read datapoint 6 of ${dir}`),
        );
        return true;
      };
      assert.throws(() => reader.getSync(6), isIndexError);
      await assert.rejects(reader.get(6), isIndexError);
      assert.throws(() => reader.availableSync(6), isIndexError);
      for (const index of [-1, 0.5, NaN]) {
        assert.throws(() => reader.getSync(index), IndexError);
      }
      reader.close();
      assert.throws(() => reader.getSync(0), { code: "closed" });
      assert.throws(() => reader.rangeSync(0, 1), { code: "closed" });
    });
  }
});

Deno.test("values of a range over shards that were read into memory remain valid", async () => {
  await withTempDir((dir) => {
    writeShards(dir, [3, 4, 5]);
    using reader = ShardedDatasetReader.openSync(dir, { decoders: null });
    const memory = new RecordMemory();
    const { n } = reader.rangeSync(0, 12, undefined, { memory });
    assert.deepEqual(n, Array.from(n!, (_, i) => Uint8Array.of(i)));
  });
});

Deno.test("workers read their own shards", async () => {
  await withTempDir((dir) => {
    writeShards(dir, [1, 1, 1, 1, 1]);
    const read = (shardStart?: number, shardStep?: number) => {
      const options = { decoders, shardStart, shardStep };
      using reader = ShardedDatasetReader.openSync(dir, options);
      assert.equal(reader.shards, reader.length);
      return reader.rangeSync(0, Infinity).n;
    };
    assert.deepEqual(read(), [0, 1, 2, 3, 4]);
    assert.deepEqual(read(3), [3, 4]);
    assert.deepEqual(read(0, 3), [0, 3]);
    assert.deepEqual(read(1, 3), [1, 4]);
    assert.deepEqual(read(2, 3), [2]);
    assert.throws(() => read(5), /5 shards: none is left from shardStart 5/);
    for (const [start, step] of [[-1, 1], [0, 0], [0.5, 1], [0, NaN]]) {
      assert.throws(() => read(start, step), RangeError);
    }
  });
});

Deno.test("an unsharded dataset is one shard", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, { n: "int" }, [{ n: Uint8Array.of(5) }], 2);
    using reader = ShardedDatasetReader.openSync(dir, { decoders });
    assert.deepEqual([reader.shards, reader.length], [1, 1]);
    assert.deepEqual(reader.getSync(0), { n: 5 });
  });
});

Deno.test("hidden names are ignored; other names are not shards", async () => {
  const refused = (dir: string, code: string, message: RegExp) =>
    assert.throws(
      () => ShardedDatasetReader.openSync(dir, { decoders }),
      (error: unknown) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.equal(error.code, code);
        assert.match(error.message, message);
        return true;
      },
    );
  await withTempDir((dir) => {
    refused(dir, "missing-shard", /neither spec\.json nor shards/);
    writeShards(dir, [1, 1]);
    Deno.writeTextFileSync(`${dir}/.DS_Store`, "");
    Deno.mkdirSync(`${dir}/.000002.tmp`);
    ShardedDatasetReader.openSync(dir, { decoders }).close();
    for (const stray of ["notes.txt", "1", "00002", "000002.bak", "000-02"]) {
      Deno.mkdirSync(`${dir}/${stray}`);
      refused(dir, "stray-file", RegExp(`not a shard: ${stray}`));
      Deno.removeSync(`${dir}/${stray}`);
    }
    Deno.mkdirSync(`${dir}/0000002`); // seven digits start at shard 1,000,000
    refused(dir, "missing-shard", /numbered 000000.*000002 is missing/);
    Deno.removeSync(`${dir}/0000002`);
    Deno.mkdirSync(`${dir}/000002`); // left by a killed writer
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    using two = ShardedDatasetReader.openSync(dir, { decoders, onWarning });
    assert.equal(two.shards, 2);
    assert.match(warnings.join(), /000002: the last shard is empty/);
    Deno.writeTextFileSync(`${dir}/000002/notes.txt`, "");
    warnings.length = 0;
    using first = ShardedDatasetReader.openSync(dir, { decoders, onWarning });
    assert.equal(first.shards, 2);
    assert.match(warnings.join(), /000002: spec\.json is missing.*skipped/);
    Deno.removeSync(`${dir}/000000`, { recursive: true });
    refused(dir, "missing-shard", /000000 is missing/);
  });
});

Deno.test("all shards have the same keys, but each has its own types", async () => {
  await withTempDir((dir) => {
    const n = Uint8Array.of(49);
    writeDataset(`${dir}/000000`, { n: "int" }, [{ n }], 3);
    writeDataset(`${dir}/000001`, { n: "utf8" }, [{ n }], 2);
    using reader = ShardedDatasetReader.openSync(dir, { decoders });
    assert.deepEqual(reader.rangeSync(0, 2), { n: [49, "1"] });
    assert.deepEqual(reader.spec, { n: "int" });
    writeDataset(`${dir}/000002`, { m: "utf8" }, [{ m: n }], 3);
    assert.throws(
      () => ShardedDatasetReader.openSync(dir, { decoders }),
      /000002\/spec\.json: its keys are not those of .*000000: m instead of n/,
    );
  });
});

const LIMITED = `
import { ShardedDatasetReader } from "../src/formats/bags/mod.ts";
const [dir] = Deno.args;
const options = { decoders: null, parallel: true, cacheIndex: false };
using reader = await ShardedDatasetReader.open(dir, options);
const indices = Array.from({ length: 200 }, (_, i) => i * 7919 % reader.length);
const values = await Promise.all(indices.map((i) => reader.get(i)));
indices.forEach((index, i) => {
  for (const datapoint of [values[i], reader.getSync(index)]) {
    for (const [k, [shard, key]] of Object.values(datapoint).entries()) {
      if (shard !== index % 10 || key !== k) throw new Error("wrong: " + index);
    }
  }
});
console.log(reader.shards, reader.length, reader.keys.length);`;

/** Number of shards: together they have more files than there are descriptors. */
const SHARDS = LONG ? 1000 : FULL ? 300 : 80;

Deno.test({
  name: `${SHARDS} shards of 20 keys need no more than 256 descriptors`,
  ignore: Deno.build.os === "windows", // Windows has no ulimit
  async fn() {
    await withTempDir(async (dir) => {
      const keys = Array.from({ length: 20 }, (_, k) => `k${k + 10}`);
      const spec = Object.fromEntries(keys.map((key) => [key, "bytes"]));
      // Writing 40,000 files would take most of the time, so most shards are links to others.
      await Deno.mkdir(`${dir}/data`);
      for (let shard = 0; shard < SHARDS; shard++) {
        const datapoint = Object.fromEntries(
          keys.map((key, k) => [key, Uint8Array.of(shard, k)]),
        );
        const path = `${dir}/data/${name(shard)}`;
        if (shard < 10) writeDataset(path, spec, [datapoint], 3);
        else await Deno.symlink(name(shard % 10), path);
      }
      const script = `${dir}/read.ts`;
      const root = new URL(`file://${REPOSITORY}`).href;
      await Deno.writeTextFile(script, LIMITED.replace("../", root));
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: [
          "-c",
          'ulimit -n 256 && exec "$0" run -A --no-check --config "$1" "$2" "$3"',
          Deno.execPath(),
          `${REPOSITORY}deno.json`,
          script,
          `${dir}/data`,
        ],
      }).output();
      const text = new TextDecoder();
      assert.equal(code, 0, text.decode(stderr));
      assert.equal(text.decode(stdout), `${SHARDS} ${SHARDS} 20\n`);
    });
  },
});
