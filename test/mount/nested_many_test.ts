/** `mount --nested` with many containers, of many formats, in a bucket, and by names that are given. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { REPOSITORY } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { PYTHON } from "../support/programs/programs.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";
import { found, killServer, mounted, output, test } from "./shown.ts";

const hello = tarBytes([{ name: "hello.txt", data: "hello" }]);
const large = new Uint8Array(3 << 20).map((_, i) => i * i >> 3);

/** Makes a directory with containers in each other. */
function makeMixed(dir: string): void {
  fs.mkdirSync(`${dir}/sub`, { recursive: true });
  const zip = makeZip([
    { name: "stored.tar", data: hello },
    { name: "deflated.tar", data: hello, method: 8 },
    { name: "large.bin", data: large },
    { name: "deflated.bin", data: large, method: 8 },
  ]);
  fs.writeFileSync(`${dir}/zips.tar`, tarBytes([{ name: "z.zip", data: zip }]));
  const tgz = gzipSync(hello);
  fs.writeFileSync(`${dir}/sub/t.zip`, makeZip([{ name: "t.tgz", data: tgz }]));
  fs.writeFileSync(`${dir}/bad.zip`, "no zip at all");
  fs.writeFileSync(`${dir}/plain.txt`, "plain");
}

test(
  "more containers than are open: inodes and open files survive",
  async (place) => {
    const { dir, mountpoint: at } = place;
    fs.mkdirSync(`${dir}/in`);
    for (let i = 0; i < 50; i++) {
      const data = `${i} `.repeat(2e5);
      const member = { name: "f", data, method: i % 2 * 8 };
      fs.writeFileSync(`${dir}/in/${i}.zip`, makeZip([member]));
    }
    const script = `${dir}/read.py`;
    fs.writeFileSync(
      script,
      `import os, random, sys, threading
paths = [f"{i}.zip/f" for i in range(50)]
inodes = [os.stat(path).st_ino for path in paths]
files = [open(path, "rb") for path in paths]
random.seed(1)
faults = []
def read():
    for _ in range(100):
        i = random.randrange(50)
        at = random.randrange(400000) // (len(str(i)) + 1) * (len(str(i)) + 1)
        part = os.pread(files[i].fileno(), 30, at)
        if part and not (f"{i} " * 40).encode().startswith(part): faults.append((i, at, part))
        if os.stat(paths[i]).st_ino != inodes[i]: faults.append(i)
        if open(paths[i], "rb").read() != (f"{i} " * 200000).encode(): faults.append((i, "whole"))
threads = [threading.Thread(target=read) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(set(inodes)), faults[:3])
`,
    );
    await mounted(
      place,
      ["--nested", "--workers", "2", `${dir}/in`],
      async () => {
        assert.equal(await output(at, PYTHON, script), "50 []\n");
      },
    );
  },
  "python3",
);

test(
  "an archive with --nested, without suffixes, and a list of them",
  async (place) => {
    const { dir, mountpoint: at } = place;
    makeMixed(`${dir}/in`);
    fs.writeFileSync(
      `${dir}/in/data.npz`,
      makeZip([{ name: "a.npy", data: "x" }]),
    );
    await output(`${dir}/in`, "tar", "cf", "../all.tar", ".");
    const args = ["--nested", "--strip-suffix", `${dir}/all.tar`];
    await mounted(place, args, async () => {
      assert.deepEqual(
        await found(`${at}/zips`, "f"),
        [
          ...["z/deflated.bin", "z/deflated/hello.txt", "z/large.bin"],
          "z/stored/hello.txt",
        ].sort(),
      );
      assert.equal(fs.statSync(`${at}/data.npz`).isFile(), true);
    });
    await mounted(place, ["-o", "nested=npz", `${dir}/all.tar`], () => {
      assert.deepEqual(fs.readdirSync(`${at}/data.npz`), ["a.npy"]);
      assert.equal(fs.statSync(`${at}/zips.tar`).isFile(), true);
      return Promise.resolve();
    });
  },
  "tar",
);

test("formats that load a library are nested, too", async (place) => {
  const { dir, mountpoint: at } = place;
  fs.mkdirSync(`${dir}/in`);
  const golden = `${REPOSITORY}test/golden`;
  for (
    const suffix of [".parquet", ".tfrecord", ".h5", ".arrow", ".bag", ".ffr"]
  ) {
    const file = fs.readdirSync(golden, { recursive: true }).map(String).sort()
      .find((name) => name.endsWith(suffix) && !/bad|empty|shard/.test(name))!;
    fs.copyFileSync(`${golden}/${file}`, `${dir}/in/x${suffix}`);
  }
  const names = fs.readdirSync(`${dir}/in`);
  assert.equal(names.length, 6);
  await mounted(
    place,
    ["--nested", "--workers", "1", `${dir}/in`],
    async () => {
      for (const name of names) {
        const { stdout } = await place.recordfs(
          "ls",
          "-R",
          `${dir}/in/${name}`,
        );
        const listed = await output(
          `${at}/${name}`,
          // `ls` of the container leaves out links to directories.
          ...["find", ".", "-mindepth", "1", "-not", "-type", "l"],
          ...["-printf", "%P\\n"],
        );
        assert.deepEqual(
          listed.split("\n").sort(),
          stdout.split("\n").sort(),
          name,
        );
      }
    },
  );
});

test("10,000 tars of a bucket are mounted without opening any", async (place) => {
  const { dir, mountpoint: at } = place;
  const objects: Record<string, Uint8Array> = {};
  for (let i = 0; i < 10_000; i++) {
    objects[`p/${String(i).padStart(5, "0")}.tar`] = hello;
  }
  objects["p/d/z.zip"] = makeZip([{ name: "t.tar", data: hello, method: 8 }]);
  objects["p/readme.txt"] = new TextEncoder().encode("read me");
  await using server = await BucketServer.start(objects);
  const isOpened = (url: string) =>
    !url.includes("list-type") && /\.(tar|zip)/.test(url);
  await mounted(place, [
    ...["--nested", "s3://bucket/p", "--endpoint", server.url, "--anonymous"],
    ...["--cache-dir", `${dir}/cache`],
  ], async () => {
    assert.equal(fs.readdirSync(at).length, 10_002);
    const listed = await output(at, "ls", "-l");
    assert.equal(listed.match(/^d.*\.tar$/gm)?.length, 10_000);
    assert.deepEqual(server.asked.filter(isOpened), []);
    const lists = server.asked.filter((url) => url.includes("list-type"));
    assert.ok(lists.length <= 2 * 11 + 4, `${lists.length} lists`);
    const cat = (path: string) => output(at, "cat", path); // this process serves
    assert.equal(await cat("readme.txt"), "read me");
    assert.equal(await cat("04321.tar/hello.txt"), "hello");
    assert.equal(await cat("d/z.zip/t.tar/hello.txt"), "hello");
    const opened = new Set(server.asked.filter(isOpened));
    assert.deepEqual([...opened].sort(), [
      ...["/bucket/p/04321.tar", "/bucket/p/d/z.zip"],
    ]);
    const inode = () => output(at, "stat", "-c", "%i", "04321.tar/hello.txt");
    const before = await inode();
    await killServer(place);
    assert.equal(await cat("04322.tar/hello.txt"), "hello");
    assert.equal(await inode(), before);
  });
});
