/** Directories of splits, as `DatasetDict.save_to_disk` of Hugging Face's datasets writes them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { check, open, openSamples } from "../../../mod.ts";
import { arrowCase } from "../../support/arrow/arrow_golden.ts";
import { rowsOf } from "../../support/parquet/parquet_golden.ts";
import { withTempDir } from "../../support/paths.ts";

const GOLDEN = arrowCase("datasets_splits");

Deno.test("splits are directories, in the order of their list, with the shards of each", async () => {
  using tree = await open(GOLDEN.path);
  assert.deepEqual(await tree.list(""), ["train", "test"]);
  assert.deepEqual(await tree.list("train"), [
    "data-00000-of-00002",
    "data-00001-of-00002",
  ]);
  assert.deepEqual(await tree.list("test"), ["data-00000-of-00001"]);
  const paths = [];
  for await (const { path, isFile } of tree.walk("")) {
    if (isFile && path.endsWith("text.txt")) paths.push(path);
  }
  const texts = (await tree.read(paths))
    .map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual(texts, rowsOf(GOLDEN).map(([text]) => text));
  const { kind, facts, directories, files } = tree.info;
  assert.equal(kind, "rows in splits");
  assert.deepEqual(facts, { rows: 7, columns: 2 });
  assert.deepEqual([directories, files], [2 + 3 + 7, 14]);
});

Deno.test("samples of splits are numbered in their order, and a split opens by itself", async () => {
  using all = await openSamples<{ text: string }>(GOLDEN.path);
  using test = await openSamples<{ text: string }>(`${GOLDEN.path}/test`);
  assert.deepEqual([all.length, test.length], [7, 2]);
  assert.equal((await all.get(6)).text, (await test.get(1)).text);
  assert.equal((await all.get(6)).text, "test 1");
  assert.equal((await check(GOLDEN.path)).samples, 7);
  const pattern = `${GOLDEN.path}/train/data-*-of-*.arrow`;
  using train = await openSamples(pattern);
  assert.equal(train.length, 5);
});

Deno.test("lists of splits that are damaged, hostile or of what is missing are refused", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/d`;
    fs.cpSync(GOLDEN.path, path, { recursive: true });
    const lists: [string, string][] = [
      ["", "bad-structure"],
      ["{", "bad-structure"],
      ["null", "bad-structure"],
      ['{"splits": {}}', "bad-structure"],
      ['{"splits": []}', "bad-structure"],
      ['{"splits": ["train", "train"]}', "bad-structure"],
      ['{"splits": ["../d/train"]}', "bad-structure"],
      ['{"splits": [".."]}', "bad-structure"],
      ['{"splits": [""]}', "bad-structure"],
      ['{"splits": [7]}', "bad-structure"],
      [`{"splits": ["${"x".repeat(1 << 16)}"]}`, "bad-structure"],
      ['{"splits": ["train", "validation"]}', "missing-shard"],
    ];
    for (const [text, code] of lists) {
      fs.writeFileSync(`${path}/dataset_dict.json`, text);
      await assert.rejects(open(path), (error) => {
        const { code: actual, message } = error as { code: string } & Error;
        assert.equal(actual, code, text);
        assert.match(message, /dataset_dict\.json/);
        return true;
      });
    }
    fs.writeFileSync(`${path}/dataset_dict.json`, '{"splits": ["test"]}');
    using tree = await open(path);
    assert.deepEqual(await tree.list(""), ["test"]);
    fs.rmSync(`${path}/test/data-00000-of-00001.arrow`);
    await assert.rejects(open(path), { code: "missing-shard" });
  }));
