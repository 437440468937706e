/** The option `nested`: which names are those of containers, and how they are shown. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { FormatError } from "../../src/base/errors.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { open } from "../../src/open/open.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";

const GOLDEN = `${REPOSITORY}test/golden`;
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const hello = tarBytes([{ name: "hello.txt", data: "hello" }]);
const zipped = makeZip([{ name: "plain.txt", data: "plain" }]);

Deno.test("the name alone decides, and the list of suffixes", async () => {
  const names = [
    ...["a.tar", "B.TAR", "c.zip", "d.ffr", "e.tfrecord", "f.parquet", "g.bag"],
    ...["a.tar.gz", "b.tgz", "c.zip.zst", "d.tar.bz2", "e.tar.xz", "f.bag.lz4"],
    ...["a.npz", "b.docx", "c.csv", "d.jsonl", "e.csv.gz", "tar", "zip"],
    ...["x.tar.txt", ".tar", "a.safetensors", "m.mdb"],
  ];
  const storage = new MemoryStorage(
    Object.fromEntries(names.map((name) => [`r/${name}`, new Uint8Array(0)])),
  );
  const directories = async (nested: boolean | string[]) => {
    using vfs = await open("r", { storage, nested });
    const found: string[] = [];
    for (const name of names) if (await vfs.isDir(name)) found.push(name);
    return found;
  };
  assert.deepEqual(await directories(true), names.slice(0, 13));
  assert.deepEqual(await directories([".npz", "jsonl"]), ["a.npz", "d.jsonl"]);
  assert.deepEqual(await directories([".tar.gz"]), ["a.tar.gz"]);
  assert.deepEqual(await directories([]), []);
  for (const suffix of ["", ".", "a/b", "*", `.${"x".repeat(64)}`]) {
    await assert.rejects(directories([suffix]), { code: "bad-option" });
  }
  await assert.rejects(open("r", { storage }), FormatError);
});

Deno.test("names without suffixes: a collision keeps both whole", async () => {
  const storage = new MemoryStorage({
    "r/a.tar": hello,
    "r/b.tar": hello,
    "r/b.zip": zipped,
    "r/c.tar.gz": gzipSync(hello),
    "r/d.tar": hello,
    "r/d": new Uint8Array(1),
    "r/e.TAR": hello,
    "r/...tar": hello,
    "r/s/a.tar": hello,
  });
  using vfs = await open("r", { storage, nested: true, stripSuffix: true });
  assert.deepEqual((await vfs.list("")).sort(), [
    ...["...tar", "a", "b.tar", "b.zip", "c", "d", "d.tar", "e", "s"],
  ]);
  for (const name of ["a", "b.tar", "c", "d.tar", "e", "s/a", "...tar"]) {
    assert.equal(text(await vfs.read(`${name}/hello.txt`)), "hello", name);
  }
  assert.equal(await vfs.isFile("d"), true);
  for (const name of ["a.tar", "c.tar.gz", "c.tar", "e.TAR", "b"]) {
    assert.equal(await vfs.exists(name), false, name);
  }
});

Deno.test("directories that are datasets are one container, and a set of shards is", async () => {
  await withTempDir(async (dir) => {
    const datasets: Record<string, string> = {
      mds: "mds/plain/data",
      bags: "bags/lists/data",
      sharded: "bags/sharded/shards",
      gulp: "gulp/v1_appended/gulp",
    };
    for (const [name, from] of Object.entries(datasets)) {
      const to = `${dir}/sets/${name}`;
      fs.cpSync(`${GOLDEN}/${from}`, to, { recursive: true });
    }
    const frame = fs.readFileSync(anyFile(`${GOLDEN}/tfrecord`, ".tfrecord"));
    const shards = {
      "sets/shards/a-00000-of-00002.tfrecord": frame,
      "sets/shards/a-00001-of-00002.tfrecord": frame,
      "sets/some/a-00000-of-00002.tfrecord": frame,
    };
    for (const [path, data] of Object.entries(shards)) {
      fs.mkdirSync(`${dir}/${path}`.replace(/\/[^/]*$/, ""), {
        recursive: true,
      });
      fs.writeFileSync(`${dir}/${path}`, data);
    }
    using vfs = await open(dir, { nested: true });
    for (const name of ["mds", "bags", "sharded", "gulp", "shards"]) {
      using direct = await open(`${dir}/sets/${name}`);
      assert.deepEqual(
        await vfs.list(`sets/${name}`),
        await direct.list(""),
        name,
      );
    }
    assert.deepEqual(
      await vfs.list("sets/some"),
      ["a-00000-of-00002.tfrecord"],
    );
    assert.ok(await vfs.isDir("sets/some/a-00000-of-00002.tfrecord"));
    using itself = await open(`${dir}/sets/mds`, { nested: true });
    assert.equal(itself.info.format, "mds");
  });
});

function anyFile(dir: string, suffix: string): string {
  const found = fs.readdirSync(dir, { recursive: true })
    .map(String).sort().find((name) => name.endsWith(suffix));
  return `${dir}/${found!}`;
}
