/** Indexes of wids, which list the shards of a WebDataset. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { check, open } from "../../../../src/open/open.ts";
import { withTempDir } from "../../../support/paths.ts";
import { serving } from "../../../support/remote/serving.ts";
import { openWeb } from "../../../support/tar/open_web.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";

/** A shard of so many samples of two files. */
function shard(count: number, from: number): Uint8Array {
  return tarBytes(
    Array.from({ length: count }, (_, i) => [
      { name: `${from + i}.txt`, data: `text ${from + i}` },
      { name: `${from + i}.cls`, data: `${i}` },
    ]).flat(),
  );
}

/** Writes two shards, and an index as `wids_index.py create` writes it. */
function writeSet(
  dir: string,
  urls = ["s/b.tar", "s/a.tar"],
  more: object = {},
): string {
  fs.mkdirSync(`${dir}/s`, { recursive: true });
  fs.writeFileSync(`${dir}/s/a.tar`, shard(3, 0));
  fs.writeFileSync(`${dir}/s/b.tar`, shard(5, 3));
  fs.writeFileSync(`${dir}/s/unlisted.tar`, shard(1, 9));
  const shardlist = urls.map((url) => {
    const isFirst = url.endsWith("a.tar");
    const filesize = fs.statSync(`${dir}/s/${isFirst ? "a" : "b"}.tar`).size;
    return { url, md5sum: "0", nsamples: isFirst ? 3 : 5, filesize };
  });
  const index = {
    __kind__: "wids-shard-index-v1",
    "wids_version": 1,
    shardlist,
    name: "set",
    ...more,
  };
  const path = `${dir}/set.json`;
  fs.writeFileSync(path, JSON.stringify(index, null, 2));
  return path;
}

Deno.test("an index of wids is the set of its shards, in its order", () =>
  serving(async ({ dir, server, remote }) => {
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    for (const place of [writeSet(dir), `${server.url}/set.json`]) {
      using container = await open(place, { remote, onWarning });
      assert.deepEqual(await container.list(""), ["b", "a"]);
      assert.equal(
        new TextDecoder().decode(await container.read("a/2.txt")),
        "text 2",
      );
      using samples = await openWeb(place, { remote, onWarning });
      const read = await samples.read([0, 7]);
      assert.deepEqual(read.map(({ __key__ }) => __key__), ["3", "2"]);
    }
    assert.deepEqual(warnings, []);
    const base = `${server.url}/s`;
    writeSet(dir, ["a.tar"], { base });
    fs.copyFileSync(`${dir}/set.json`, `${dir}/s/set.json`);
    using rebased = await open(`${server.url}/s/set.json`, {
      remote,
      onWarning,
    });
    assert.deepEqual(await rebased.list(""), ["a"]);
  }));

Deno.test("what an index of wids says wrongly of its shards is a warning, and damage to check", () =>
  withTempDir(async (dir) => {
    const path = writeSet(dir);
    fs.writeFileSync(`${dir}/s/b.tar`, shard(4, 3));
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    using container = await open(path, { onWarning });
    assert.equal(container.info.files, 14);
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /Cannot use the index of wids for .*b\.tar: it says \d+ bytes, and the shard has \d+/,
    );
    const { damage } = await check(path, { onWarning });
    assert.deepEqual(damage!.map(({ code }) => code), ["bad-index"]);
    const text = fs.readFileSync(path, "utf8");
    const sizes = text.replaceAll(/"filesize": \d+/g, '"x": 1');
    fs.writeFileSync(path, sizes);
    const { damage: samples } = await check(path, { onWarning });
    assert.match(
      samples![0]!.message,
      /it says 5 samples, and the shard has 4/,
    );
  }));

Deno.test("an index of wids opens no file elsewhere, and is refused where it is none", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in`);
    fs.writeFileSync(`${dir}/secret.tar`, shard(1, 0));
    const refused = async (code: string, message: RegExp) => {
      await assert.rejects(open(`${dir}/in/set.json`), { code, message });
    };
    for (
      const url of [
        "../secret.tar",
        "s/../../secret.tar",
        `${dir}/secret.tar`,
        "https://example.com/a.tar",
        "file:///etc/passwd",
        "/etc/passwd",
        "",
        "s//a.tar",
        "a\0.tar",
      ]
    ) {
      writeSet(`${dir}/in`, [url], {});
      await refused(
        "unsupported",
        /lies elsewhere\. Put the index next to its shards/,
      );
    }
    const of = { shardlist: [{ url: "s/a.tar", nsamples: 3 }] };
    const cases: [object, string][] = [
      [{ "wids_version": 2 }, "unsupported"],
      [{ shardlist: [] }, "bad-index"],
      [{ shardlist: [null] }, "bad-index"],
      [{ shardlist: [{ url: "s/a.tar" }] }, "bad-index"],
      [{ shardlist: [{ url: "s/a.tar", nsamples: -1 }] }, "bad-index"],
      [{ shardlist: [{ url: 7, nsamples: 1 }] }, "bad-index"],
      [{ datasets: 7 }, "bad-index"],
      [
        { datasets: [{ source_url: "https://example.com/x.json" }] },
        "unsupported",
      ],
    ];
    for (const [more, code] of cases) {
      writeSet(`${dir}/in`, [], { ...of, ...more });
      await refused(code, /^Cannot open .*set\.json as an index of wids: /);
    }
    writeSet(`${dir}/in`, [], { shardlist: undefined, datasets: [of] });
    using container = await open(`${dir}/in/set.json`);
    assert.equal(container.info.files, 6);
    fs.writeFileSync(
      `${dir}/in/set.json`,
      '{"__kind__": "wids-shard-index-v1", ',
    );
    await refused("bad-index", /it is no JSON/);
    fs.writeFileSync(`${dir}/in/set.json`, '{"a": 1}');
    await refused("unknown-format", /unknown/);
  }));
