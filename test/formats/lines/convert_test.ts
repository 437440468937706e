/** Rows converted to samples of other formats: values keep their types, and losses are reported. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../mod.ts";
import { convert } from "../../../src/open/convert/convert.ts";
import { withTempDir } from "../../support/paths.ts";

const QUIET = { onWarning() {} };

Deno.test("types of columns become those of MDS", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.csv`, "i,f,s,z\n1,0.5,a,007\n2,3,b,1\n");
    await convert(`${dir}/a.csv`, `${dir}/mds`, { ...QUIET, to: "mds" });
    const { shards: [shard] } = JSON.parse(
      fs.readFileSync(`${dir}/mds/index.json`, "utf8"),
    );
    assert.deepEqual(shard.column_names, ["f", "i", "s", "z"]);
    assert.deepEqual(shard.column_encodings, ["float64", "int", "str", "str"]);
    using samples = await openSamples(`${dir}/mds`, QUIET);
    assert.deepEqual({ ...await samples.get(1) }, {
      f: 3,
      i: 2,
      s: "b",
      z: "1",
    });
  }));

Deno.test("lines with other keys become samples with missing values, and whole floats remain floats", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(
      `${dir}/a.jsonl`,
      '{"f":1.0,"o":{"x":1.0}}\n{"f":2.5,"t":"x"}\n{"o":[1,2.0]}\n',
    );
    await assert.rejects(
      convert(`${dir}/a.jsonl`, `${dir}/mds`, { ...QUIET, to: "mds" }),
      { code: "would-lose" },
    );
    await convert(`${dir}/a.jsonl`, `${dir}/mds`, {
      ...QUIET,
      ...{ to: "mds", lossy: true },
    });
    const bytes = fs.readFileSync(`${dir}/mds/shard.00000.mds`, "latin1");
    assert.ok(bytes.includes('{"x": 1.0}'));
    assert.ok(bytes.includes("[1, 2.0]"));
    using samples = await openSamples(`${dir}/mds`, QUIET);
    const values = await samples.get([0, 1, 2]);
    assert.deepEqual(values.map(({ f }) => f), [1, 2.5, NaN]);
  }));

Deno.test("undecoded rows become records", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.jsonl`, '{"n": 1}\n{"n": 2}\n');
    await convert(`${dir}/a.jsonl`, `${dir}/a.bag`, { ...QUIET, lossy: true });
    using samples = await openSamples(`${dir}/a.bag`, QUIET);
    const { content } = await samples.read(1);
    assert.equal(new TextDecoder().decode(content as Uint8Array), '{"n": 2}');
  }));
