/** How often servers are asked for the index files of shards that have none. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../src/open/open.ts";
import { writeIndex } from "../../../src/open/write_index.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { withTempDir } from "../../support/paths.ts";
import { serving } from "../../support/remote/serving.ts";
import { SIGNED, withBucket } from "../../support/remote/with_bucket.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

const CONTENT = new Uint8Array(4_500_000).fill(97);
const NAMES = ["0.bin", "1.bin"];
const SHARD = tarBytes(NAMES.map((name) => ({ name, data: CONTENT })));

Deno.test("shards are not asked for one by one: a listing says which have an index, and some misses stand for all", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    fs.mkdirSync(`${dir}/s`);
    fs.writeFileSync(`${dir}/s/10.tar`, SHARD);
    for (let i = 11; i < 40; i++) {
      fs.linkSync(`${dir}/s/10.tar`, `${dir}/s/${i}.tar`);
    }
    const misses = () =>
      server.asked.filter(({ path }) => /\.(idx|recordfs-index)$/.test(path))
        .length;
    {
      using container = await open(`${server.url}/s/`, { remote });
      assert.equal(container.info.files, 30 * 2);
      assert.equal(misses(), 0);
    }
    fs.rmSync(served.directory, { recursive: true });
    using container = await open(`${server.url}/s/{10..39}.tar`, { remote });
    assert.equal(container.info.files, 30 * 2);
    // Those that are opened at the same time ask at the same time.
    assert.ok(misses() <= 2 * (4 + 16), String(misses()));
  }));

Deno.test("an object of a bucket is opened with one request for its index, and no list if there is none", () =>
  withTempDir(async (dir) => {
    const storage = new MemoryStorage({ "x.tar": SHARD });
    const output = `${dir}/index`;
    await writeIndex("x.tar", { storage, output });
    const index = new Uint8Array(fs.readFileSync(output));
    const objects = { "x.tar": SHARD, "y.tar": SHARD };
    const all = { ...objects, "x.tar.recordfs-index": index };
    await withBucket(all, SIGNED, async (server, remote) => {
      const open1 = async (name: string) => {
        server.asked.length = 0;
        const s3 = remote();
        using container = await open(`s3://bucket/${name}`, s3);
        assert.equal(container.info.files, 2);
        return server.asked.filter((asked) => !asked.endsWith(`/${name}`));
      };
      assert.deepEqual(await open1("x.tar"), ["/bucket/x.tar.recordfs-index"]);
      assert.deepEqual(await open1("y.tar"), [
        "/bucket/y.tar.recordfs-index",
        "/bucket/y.idx",
      ]);
    });
  }));
