/** Datasets in the intermediate forms of a few granular commits, written by the code of those commits. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { FormatError } from "../../../../src/base/errors.ts";
import {
  BagReader,
  DatasetReader,
  decodersOf,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { assertConsistent } from "../../../support/bags/bag_trees.ts";
import { assertExpected } from "../../../support/expected_value.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { succeed } from "../../../cli/run_cli.ts";

const ROOT = `${REPOSITORY}test/golden/between`;

interface Expected {
  readonly spec: Record<string, string>;
  readonly datapoints: Record<string, unknown>[];
}

function expected(name: string): Expected {
  return JSON.parse(fs.readFileSync(`${ROOT}/${name}/expect.json`, "utf8"));
}

/** Name, and the generation that it is read as. */
const CASES = [
  ["array_0_8_0", 1],
  ["arraytree_0_8_1", 1],
  ["refless_0_22_0", 2],
  ["refless_shards_0_22_0", 2],
] as const;

for (const [name, generation] of CASES) {
  const path = `${ROOT}/${name}/data`;
  const { spec, datapoints } = expected(name);

  Deno.test(`${name} is read like its writer reads it`, async () => {
    for (const cacheIndex of [true, false]) {
      await assertValues(path, datapoints, generation, { cacheIndex });
    }
    using reader = await ShardedDatasetReader.open(path);
    assert.deepEqual(reader.spec, spec);
    const { length } = datapoints;
    const batch = await reader.read([length - 1, 0, length - 1]);
    assertExpected(batch, [
      datapoints[length - 1],
      datapoints[0],
      datapoints[length - 1],
    ]);
    if (name.includes("shards")) return;
    using forced = DatasetReader.openSync(path, { generation });
    assertExpected(await forced.get(0), datapoints[0]);
  });

  Deno.test(`${name} becomes datasets of later generations, with the same values`, async () => {
    for (const to of [2, 3] as const) {
      await withTempDir(async (dir) => {
        const form = { to: "bags", generation: to } as const;
        await convert(path, `${dir}/out`, form);
        await assertValues(`${dir}/out`, datapoints, to);
        using reader = await ShardedDatasetReader.open(`${dir}/out`);
        const words = Object.values(reader.spec);
        assert.ok(!words.includes("arraytree"), `${words}`);
        // Later versions of granular read no other form.
        if (!Object.hasOwn(spec, "array")) return;
        const shard = name.includes("shards") ? "000000/" : "";
        using bag = BagReader.openSync(`${dir}/out/${shard}array.bag`);
        for (const record of bag.readSync(Array(bag.length).keys())) {
          assert.equal(record[0], 0x93);
        }
      });
    }
  });

  Deno.test(`${name} is shown, checked, and restored from its files`, async () => {
    await succeed(["check", "--values", path]);
    using tree = await open(path, { decoded: true });
    const names: string[] = [];
    for await (const { path } of tree.walk()) names.push(path);
    const prefix = name.includes("shards") ? "000001/000001" : "000005";
    assert.ok(names.includes(`${prefix}/text.txt`), names.join(" "));
    const view = name.startsWith("arraytree") ? "tree.json" : "array.npy";
    assert.ok((await tree.read(`${prefix}/${view}`)).length > 20);
    assertConsistent(tree);
    await withTempDir(async (dir) => {
      await succeed(["extract", path, `${dir}/files`]);
      const args = ["--generation", String(generation)];
      await succeed(["bag", "create", `${dir}/out`, `${dir}/files`, ...args]);
      await assertValues(`${dir}/out`, datapoints, generation);
    });
  });
}

/** Compares every value with the expected ones; in generation 3, a list is a single value. */
async function assertValues(
  path: string,
  datapoints: Expected["datapoints"],
  generation: 1 | 2 | 3,
  options: { cacheIndex?: boolean } = {},
): Promise<void> {
  using reader = await ShardedDatasetReader.open(path, options);
  assert.equal(reader.generation, generation);
  assert.equal(reader.length, datapoints.length);
  for (const [i, datapoint] of datapoints.entries()) {
    assertExpected(await reader.get(i), datapoint);
    assertExpected(reader.getSync(i), datapoint);
  }
}

Deno.test("arraytree is a custom type except in generation 1", () => {
  assert.equal(typeof decodersOf(1).arraytree, "function");
  assert.equal(decodersOf(2).arraytree, undefined);
  assert.equal(decodersOf(3).arraytree, undefined);
});

Deno.test("datasets of bags 0.2 to 0.4 are named, with a hint", async () => {
  const path = `${ROOT}/parts_0_4_0/data`;
  await assert.rejects(DatasetReader.open(path), (error) => {
    assert.ok(error instanceof FormatError);
    assert.equal(error.code, "unknown-format");
    assert.match(error.message, /written by bags 0\.2 to 0\.4.* Read it with/);
    return true;
  });
});

Deno.test("a directory that only looks like a dataset without references is rejected", async (t) => {
  const refless = `${ROOT}/refless_0_22_0/data`;
  const lists = `${REPOSITORY}test/golden/granular2/lists/data`;
  const third = `${REPOSITORY}test/golden/granular3/types/data`;
  const first = `${ROOT}/array_0_8_0/data`;
  const remove = (...names: string[]) => (dir: string) => {
    for (const name of names) fs.rmSync(`${dir}/${name}`);
  };
  const without = (suffix: string) => (dir: string) => {
    for (const name of fs.readdirSync(dir)) {
      if (name.endsWith(suffix)) fs.rmSync(`${dir}/${name}`);
    }
  };
  const cases: [string, string, (dir: string) => void, RegExp][] = [
    ["lists", lists, remove("refs.bag"), /refs\.bag is missing.*0\.22\.0/],
    ["generation 1", first, remove("refs.bag"), /refs\.bag is missing/],
    ["generation 3", third, without(".idx"), /so are the \.idx files/],
    ["a lost bag", refless, remove("n.bag"), /n\.bag is missing, which spec/],
    [
      "another length",
      refless,
      (dir) =>
        fs.copyFileSync(
          `${ROOT}/refless_shards_0_22_0/data/000000/n.bag`,
          `${dir}/n.bag`,
        ),
      /refs\.bag is missing.*as many records/,
    ],
    [
      "a cut bag",
      refless,
      (dir) => fs.truncateSync(`${dir}/n.bag`, 40),
      /refs\.bag is missing/,
    ],
  ];
  for (const [name, path, change, words] of cases) {
    await t.step(name, async () => {
      await withTempDir(async (dir) => {
        fs.cpSync(path, `${dir}/data`, { recursive: true });
        change(`${dir}/data`);
        await assert.rejects(DatasetReader.open(`${dir}/data`), (error) => {
          assert.ok(error instanceof FormatError, `${error}`);
          assert.equal(error.code, "missing-bag");
          assert.match(error.message, words);
          return true;
        });
      });
    });
  }
});
