/**
 * Detection of line formats: files by their extensions, directories that contain nothing else; other folders remain
 * folders.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { open } from "../../../../src/open/open.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { convert } from "../../../../src/open/convert/convert.ts";
import { withTempDir } from "../../../support/paths.ts";

const QUIET = { onWarning() {} };
const UNKNOWN = { code: "unknown-format" };

function write(dir: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(`${dir}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    fs.writeFileSync(`${dir}/${path}`, content);
  }
}

async function formatOf(path: string): Promise<string> {
  using container = await open(path, QUIET);
  return container.info.format;
}

Deno.test("files are detected by their extensions, and any file opens as a given format", () =>
  withTempDir(async (dir) => {
    write(dir, {
      "a.jsonl": '{"a":1}\n',
      "b.ndjson": '{"a":1}\n',
      "c.csv": "a\n1\n",
      "d.TSV": "a\tb\n1\t2\n",
      "e.txt": "a\n1\n",
      "f.json": '{"a":1}\n',
    });
    assert.equal(await formatOf(`${dir}/a.jsonl`), "jsonl");
    assert.equal(await formatOf(`${dir}/b.ndjson`), "jsonl");
    assert.equal(await formatOf(`${dir}/c.csv`), "csv");
    assert.equal(await formatOf(`${dir}/d.TSV`), "tsv");
    await assert.rejects(open(`${dir}/e.txt`), UNKNOWN);
    await assert.rejects(open(`${dir}/f.json`), UNKNOWN);
    using given = await openSamples(`${dir}/e.txt`, { format: "csv" });
    assert.deepEqual({ ...await given.get(0) }, { a: 1 });
  }));

Deno.test("a folder of files and their labels remains a folder", () =>
  withTempDir(async (dir) => {
    const folder = `${dir}/pictures`;
    write(folder, {
      "cat/1.jpg": "1",
      "cat/2.jpg": "2",
      "dog/1.jpg": "3",
      "labels.csv": "name,label\n1,cat\n",
      "meta.jsonl": '{"a":1}\n',
      "splits.tsv": "a\tb\n",
    });
    await assert.rejects(open(folder), UNKNOWN);
    write(`${dir}/classes`, {
      "cat/1.jpg": "1",
      "cat/boxes.csv": "1,2,3,4\n",
      "lists/a.csv": "a\n",
    });
    using dataset = await openDataset(`${dir}/classes`, { decode: false });
    assert.deepEqual(
      (await dataset.get([0, 1, 2])).map(({ label }) => label),
      ["cat", "cat", "lists"],
    );
    const { unit, count } = await convert(folder, `${dir}/all.tar`, {
      ...QUIET,
      lossy: true,
    });
    assert.deepEqual([unit, count], ["files", 6]);
    // Lists of several kinds, or next to other files or directories, are not shards.
    write(`${dir}/lists`, { "a.csv": "a\n", "b.jsonl": "{}\n" });
    await assert.rejects(open(`${dir}/lists`), UNKNOWN);
    write(`${dir}/notes`, { "a.csv": "a\n", "README.md": "" });
    await assert.rejects(open(`${dir}/notes`), UNKNOWN);
    fs.symlinkSync("missing", `${dir}/notes/a link`);
    await assert.rejects(openSamples(`${dir}/notes`), UNKNOWN);
    write(`${dir}/below`, { "a.csv/part-0.csv": "a\n" });
    await assert.rejects(open(`${dir}/below`), UNKNOWN);
    assert.equal(await formatOf(`${dir}/below/a.csv`), "csv");
    write(`${dir}/hidden`, { "_SUCCESS": "", ".a.csv.crc": "", "._b.csv": "" });
    await assert.rejects(open(`${dir}/hidden`), UNKNOWN);
  }));

Deno.test("a directory of one kind of files, and patterns, are shards", () =>
  withTempDir(async (dir) => {
    const parts: Record<string, string> = { "_SUCCESS": "", ".x.crc": "" };
    for (let i = 0; i < 12; i++) {
      const n = String(i).padStart(5, "0");
      parts[`part-${n}-of-00012.jsonl`] = `{"n":${2 * i}}\n{"n":${
        2 * i + 1
      }}\n`;
    }
    write(`${dir}/data`, parts);
    const all = [...Array(24).keys()];
    for (
      const path of [
        `${dir}/data`,
        `${dir}/data/part-?????-of-00012.jsonl`,
        `${dir}/data/part-*-of-*.jsonl`,
      ]
    ) {
      using samples = await openSamples(path);
      const values = await samples.get(all);
      assert.deepEqual(values.map(({ n }) => n), all, path);
      assert.equal(samples.container!.info.directories, 12);
    }
    fs.rmSync(`${dir}/data/part-00003-of-00012.jsonl`);
    await assert.rejects(open(`${dir}/data`), {
      code: "missing-shard",
      message: /it has 11 of the 12 shards/,
    });
    write(dir, {
      "s/a-00.csv": "n\n0\n",
      "s/a-01.csv": "n\n1\n",
      "t/a-01.csv": "n\n2\n",
    });
    using named = await openSamples(`${dir}/s/a-{00..01}.csv`);
    assert.deepEqual(
      (await named.get([0, 1])).map(({ n }) => n),
      [0, 1],
    );
    using fs_ = await open(`${dir}/{s,t}/a-01.csv`);
    assert.deepEqual(await fs_.list(), ["a-01.csv", "a-01.csv~2"]);
    // A pattern that is the name of a file refers to that file.
    write(dir, { "a-{1,2}.csv": "n\n7\n" });
    using literal = await openSamples(`${dir}/a-{1,2}.csv`);
    assert.deepEqual({ ...await literal.get(0) }, { n: 7 });
    await assert.rejects(open(`${dir}/s/a-{00..02}.csv`), /a-02\.csv/);
  }));

Deno.test("shards with other columns are samples with fields of their own, and types are those of all shards", () =>
  withTempDir(async (dir) => {
    write(dir, { "a.csv": "n,m\n1,2\n", "b.csv": "m,k\nx,3\n" });
    using samples = await openSamples(dir);
    assert.equal(samples.fields, undefined);
    const values = await samples.get([0, 1]);
    assert.deepEqual(values.map((row) => ({ ...row })), [
      { n: 1, m: "2" },
      { m: "x", k: 3 },
    ]);
  }));
