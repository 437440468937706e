/** The option `nested` over plain directories and buckets: what is listed, and what is skipped. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ended } from "../../src/io/concurrency/steps.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import type { Storage } from "../../src/io/storage/storage.ts";
import { open } from "../../src/open/open.ts";
import { withTempDir } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { tarBytes } from "../support/tar/make_tar.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const hello = tarBytes([{ name: "hello.txt", data: "hello" }]);

Deno.test("a hostile listing yields only names that a directory can hold", async () => {
  const hostile = [
    ...["a.tar", "a.tar", "..", ".", "", "x/y", "n\0l", "\udcc3\udca9.txt"],
    ...["é.txt", "l".repeat(1025), "m".repeat(1024), "\ud800"],
  ];
  const facts = { isDirectory: false, size: hello.length, mtime: 1, id: 1 };
  const storage: Storage = {
    open: (path) => new MemoryStorage({ [path]: hello }).open(path),
    list: (path) => ended(path === "r" ? hostile : undefined),
    stat: (path) =>
      ended(path === "r" ? { ...facts, isDirectory: true } : facts),
  };
  const warned: string[] = [];
  const onWarning = (message: string) => void warned.push(message);
  using vfs = await open("r", { nested: true, storage, onWarning });
  assert.deepEqual((await vfs.list("")).sort(), [
    ...["a.tar", "m".repeat(1024), "\udced\udca0\udc80", "é.txt"].sort(),
  ]);
  assert.equal(warned.length, 6);
  assert.equal(text(await vfs.read("a.tar/hello.txt")), "hello");
});

Deno.test("symbolic links: of a directory that leads back, and of archives", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/d`);
    fs.writeFileSync(`${dir}/d/a.tar`, hello);
    fs.symlinkSync("..", `${dir}/d/up`);
    fs.symlinkSync("d/a.tar", `${dir}/l.tar`);
    fs.symlinkSync("none", `${dir}/broken.tar`);
    const warned: string[] = [];
    const onWarning = (message: string) => void warned.push(message);
    using vfs = await open(dir, { nested: true, onWarning });
    const paths = [];
    for await (const { path } of vfs.walk("")) paths.push(path);
    assert.deepEqual(paths, [
      ...["d", "d/a.tar", "d/a.tar/hello.txt", "l.tar", "l.tar/hello.txt"],
    ]);
    assert.deepEqual(warned.sort(), [
      `${dir}/broken.tar is skipped: it is not there`,
      `${dir}/d/up is skipped: it is a link to a directory above it`,
    ]);
  });
});

Deno.test("a bucket of tars is listed by a request for each 1,000, and none opens a tar", async () => {
  const objects: Record<string, Uint8Array> = {};
  for (let i = 0; i < 2500; i++) {
    objects[`p/${String(i).padStart(5, "0")}.tar`] = hello;
  }
  await using server = await BucketServer.start(objects);
  const remote = {
    s3: { endpoint: server.url, anonymous: true },
    cache: false,
  } as const;
  using vfs = await open("s3://bucket/p", { nested: true, remote });
  assert.equal((await vfs.list("")).length, 2500);
  assert.equal((await vfs.stat("00000.tar")).isDirectory, true);
  const isList = (url: string) => url.includes("list-type=2");
  const lists = server.asked.filter(isList).length;
  assert.equal(lists, 3);
  const objectsAsked = server.asked.filter((url) => /\.tar/.test(url));
  assert.deepEqual(objectsAsked.filter((url) => !isList(url)), []);
  assert.equal(text(await vfs.read("01777.tar/hello.txt")), "hello");
  const tars = server.asked.filter((url) => !isList(url) && /\.tar/.test(url));
  assert.deepEqual([...new Set(tars)], ["/bucket/p/01777.tar"]);
});
