/** Remote datasets: number and size of requests. */
import { openMds } from "../../../support/mds/open_mds.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { MDSWriter } from "../../../../src/formats/mds/mod.ts";
import { check, open } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import { mdsCase, mdsCases } from "../../../support/mds/mds_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";

Deno.test("a dataset on a server is opened by its directory or its index", () =>
  withTempDir(async (dir) => {
    for (const { name, path, content: { samples } } of mdsCases()) {
      await using server = await FileServer.start(path);
      const remote = { cache: { directory: `${dir}/${name}` } };
      using reader = await openMds(`${server.url}/index.json`, {
        remote,
      });
      assert.equal(reader.length, samples.length);
      const all = await reader.read(samples.map((_, i) => i));
      for (const [i, sample] of samples.entries()) {
        for (const [column, { sha256: sum }] of Object.entries(sample)) {
          assert.equal(sha256(all[i]![column]!), sum);
        }
      }
      for (const location of [`${server.url}/`, `${server.url}/index.json`]) {
        using shown = await open(location, { remote });
        assert.equal(shown.info.format, "mds");
        assert.equal(shown.info.facts!["samples"], samples.length);
      }
      const { damaged } = await check(`${server.url}/index.json`, {
        remote,
        onDamage: (damage) => assert.fail(damage),
      });
      assert.equal(damaged, 0);
    }
  }));

Deno.test("one sample needs the index, its shard's table, and itself", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const raw = new Uint8Array(3 << 20);
    await using writer = await MDSWriter.open(`${dir}/www/d`, {
      columns: { n: "int", raw: "bytes" },
    });
    for (let n = 0; n < 40; n++) await writer.write({ n, raw: raw.fill(n) });
    await writer.close();
    await using server = await FileServer.start(`${dir}/www`);
    const remote = { cache: { directory: `${dir}/cache` } };
    using dataset = await openDataset(`${server.url}/d/index.json`, {
      remote,
    });
    const [sample] = await dataset.get([30]);
    assert.equal(sample!["n"], 30);
    const bytes = server.asked.reduce((sum, { range }) => {
      const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range ?? "") ?? [];
      return first === undefined ? sum : sum + Number(last) - Number(first) + 1;
    }, 0);
    assert.ok(bytes < 12 << 20, `${bytes} of ${120 << 20}`);
    const shards = server.asked.filter(({ path, range }) =>
      path.endsWith(".mds") && /bytes=[1-9]/.test(range ?? "")
    );
    assert.ok(shards.every(({ path }) => path === "/d/shard.00001.mds"));
    assert.ok(dataset.prefetch([0, 39]) > 0);
    const [first, last] = await dataset.get([0, 39]);
    assert.deepEqual([first!["n"], last!["n"]], [0, 39]);
  }));

Deno.test("a missing shard on a server is named, and the samples of the others are read", () =>
  withTempDir(async (dir) => {
    fs.cpSync(mdsCase("zstd").path, `${dir}/d`, { recursive: true });
    fs.rmSync(`${dir}/d/shard.00001.mds.zstd`);
    await using server = await FileServer.start(`${dir}/d`);
    const message =
      /shard.00001.mds.zstd\)?: it is missing, and .*index.json names it/;
    const warnings: string[] = [];
    using reader = await openMds(`${server.url}/index.json`, {
      remote: { cache: { directory: `${dir}/cache` } },
      onWarning: (warning) => warnings.push(warning),
    });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, message);
    await assert.rejects(reader.read(4), {
      code: "missing-shard",
      sample: 4,
      message,
    });
    assert.equal((await reader.read([0, 3])).length, 2);
  }));

Deno.test("of a truncated shard on a server, nothing is fetched for incomplete samples", () =>
  withTempDir(async (dir) => {
    const { path, content: { samples } } = mdsCase("plain");
    fs.cpSync(path, `${dir}/d`, { recursive: true });
    const names = fs.readdirSync(`${dir}/d`).filter((name) =>
      name.endsWith(".mds")
    ).sort();
    const shard = `${dir}/d/${names.at(-1)}`;
    fs.truncateSync(shard, fs.statSync(shard).size - 1);
    await using server = await FileServer.start(`${dir}/d`);
    using reader = await openMds(`${server.url}/index.json`, {
      remote: { cache: { directory: `${dir}/cache` } },
      onWarning() {},
    });
    const last = samples.length - 1;
    await reader.read(last - 1); // reads the offset table
    assert.equal(reader.fileOf(last), reader.fileOf(last - 1));
    assert.equal(reader.prefetch([last]), 0);
    assert.ok(reader.prefetch([last, last - 1]) > 0);
    await assert.rejects(reader.read(last), { code: "truncated-data" });
  }));
