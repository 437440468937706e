/** Paths into containers: where they are split, how deep they nest, and the errors of invalid ones. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import * as fs from "node:fs";
import { openDataset, openSamples } from "../../mod.ts";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import { chainedPath } from "../../src/io/storage/chained_path.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { open } from "../../src/open/open.ts";
import { openSync } from "../../src/open/mod.ts";
import { assertPortable } from "../data/support/in_thread.ts";
import { withTempDir } from "../support/paths.ts";
import { descriptorsBelowNow } from "../support/programs/descriptors.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { run } from "../cli/run_cli.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { FileServer } from "../support/remote/file_server.ts";
import { type Member, tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const tar = (...members: readonly Member[]) => tarBytes(members);
const hello = tar({ name: "hello.txt", data: "hello" });

async function helloIn(path: string, storage: MemoryStorage): Promise<string> {
  using shown = await open(path, { storage });
  using now = openSync(path, { storage });
  assert.deepEqual(now.readSync("hello.txt"), await shown.read("hello.txt"));
  return text(await shown.read("hello.txt"));
}

Deno.test("a path is first taken literally, and split from the left if it does not exist", async () => {
  const other = tar({ name: "hello.txt", data: "other" });
  const third = tar({ name: "hello.txt", data: "third" });
  const storage = new MemoryStorage({
    "a.tar": tar({ name: "b.tar", data: hello }, { name: "c!", data: third }, {
      name: "d!/e.tar",
      data: third,
    }, { name: "d", data: tar({ name: "e.tar", data: other }) }),
    "x!/b.tar": other,
    "x": tar({ name: "b.tar", data: third }),
    "y!": tar({ name: "b.tar", data: hello }),
  });
  assert.equal(await helloIn("a.tar!/b.tar", storage), "hello");
  assert.equal(await helloIn("a.tar!/c!", storage), "third");
  // Likewise inside the container.
  assert.equal(await helloIn("a.tar!/d!/e.tar", storage), "third");
  assert.equal(await helloIn("x!/b.tar", storage), "other");
  assert.equal(await helloIn("y!!/b.tar", storage), "hello");
});

Deno.test("directories of containers are containers, and members in any form are", async () => {
  const storage = new MemoryStorage({
    "o.zip": makeZip([
      { name: "s/a.tar", data: hello, method: 8 },
      { name: "s/b.tar", data: hello },
      { name: "g.tar", data: gzipSync(hello), method: 8 },
      { name: "link.tar", data: "s/a.tar", mode: 0o120777 },
    ]),
  });
  assert.equal(await helloIn("o.zip!/s/a.tar", storage), "hello");
  assert.equal(await helloIn("o.zip!/s/b.tar", storage), "hello");
  assert.equal(await helloIn("o.zip!/g.tar", storage), "hello");
  assert.equal(await helloIn("o.zip!/link.tar", storage), "hello");
  using shards = await open("o.zip!/s", { storage });
  assert.deepEqual(await shards.list(""), ["a", "b"]);
  using pattern = await open("o.zip!/s/{a..b}.tar", { storage });
  assert.deepEqual(await pattern.list(""), ["a", "b"]);
  using part = await open("o.zip!/s", { storage, prefix: "b" });
  assert.equal(text(await part.read("hello.txt")), "hello");
});

Deno.test("containers nest up to eight levels", async () => {
  let bytes = hello;
  let path = "";
  for (let depth = 0; depth < 9; depth++) {
    const storage = new MemoryStorage({ "o.tar": bytes });
    const opening = helloIn(`o.tar${path}`, storage);
    if (depth <= 8) assert.equal(await opening, "hello", `${depth}`);
    bytes = tar({ name: "o.tar", data: bytes });
    path += "!/o.tar";
  }
  const deep = new MemoryStorage({ "o.tar": bytes });
  await assert.rejects(open(`o.tar${path}`, { storage: deep }), {
    code: "unsupported",
    message: /more than 8 containers and compressed files/,
  });
  let compressed: Uint8Array<ArrayBuffer> = hello;
  for (let depth = 0; depth < 8; depth++) {
    compressed = new Uint8Array(gzipSync(compressed));
  }
  const eight = new MemoryStorage({ "o.gz": compressed });
  assert.equal(await helloIn("o.gz", eight), "hello");
  const nine = new MemoryStorage({ "o.gz": gzipSync(compressed) });
  await assert.rejects(open("o.gz", { storage: nine }), FormatError);
});

Deno.test("missing, unknown and damaged containers are reported by path, and closed", async () => {
  await withTempDir(async (dir) => {
    const damaged = gzipSync(hello);
    damaged[30]! ^= 0xff;
    const members = [
      { name: "plain.txt", data: "no container" },
      { name: "damaged.tar.gz", data: damaged },
    ];
    fs.writeFileSync(`${dir}/o.tar`, tar(...members));
    const refused: [path: string, code: string, says: RegExp][] = [
      ["none.tar!/x", "ENOENT", /none\.tar!\/x: there is no such file/],
      ["o.tar!/none", "ENOENT", /o\.tar!\/none: there is no such file/],
      ["o.tar!/plain.txt", "unknown-format", /o\.tar!\/plain\.txt: .* unknown/],
      ["o.tar!/plain.txt!/x", "unknown-format", /o\.tar!\/plain\.txt/],
      [
        "o.tar!/damaged.tar.gz",
        "bad-structure",
        /Cannot decompress .*o\.tar!\//,
      ],
    ];
    for (const [path, code, says] of refused) {
      await assert.rejects(open(`${dir}/${path}`), (error) => {
        assert.ok(error instanceof RecordfsError);
        assert.equal(error.code, code);
        assert.match(error.message, says);
        return true;
      });
      assert.throws(() => openSync(`${dir}/${path}`), { code });
    }
    assert.equal(descriptorsBelowNow(dir), 0);
  });
});

Deno.test("a file of an opened container is a location, in other threads too", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(
      `${dir}/o.tar.gz`,
      gzipSync(tar({ name: "in/b.tar", data: hello })),
    );
    await using server = await FileServer.start(dir);
    const remote = { cache: false } as const;
    for (const path of [`${dir}/o.tar.gz`, `${server.url}/o.tar.gz`]) {
      using outer = await open(path, { remote });
      using inner = await open(outer.file("in/b.tar"));
      assert.equal(text(await inner.read("hello.txt")), "hello");
      inner.close();
      assert.ok(await outer.isFile("in/b.tar"), "the outer one stays open");
      using samples = await openSamples(outer.file("in/b.tar"));
      assert.equal(samples.length, 1);
      using dataset = await openDataset(`${path}!/in/b.tar`, { remote });
      await assertPortable(dataset, [0]);
    }
    const bytes = new Uint8Array(fs.readFileSync(`${dir}/o.tar.gz`));
    using memory = await open(bytes);
    using inMemory = await open(memory.file("in/b.tar"));
    assert.equal(text(await inMemory.read("hello.txt")), "hello");
  });
});

Deno.test("compressed files, patterns, directories and nested containers in a bucket are opened as well", async () => {
  const shard = (name: string) => gzipSync(tar({ name, data: name }));
  await using server = await BucketServer.start({
    "d/o.zip": makeZip([{ name: "i.tar", data: hello }]),
    "d/o.tar.gz": gzipSync(tar({ name: "i.tar", data: hello })),
    "s/a.tar.gz": shard("x"),
    "s/b.tar.gz": shard("y"),
  });
  const s3 = { endpoint: server.url, anonymous: true };
  const remote = { cache: false, s3 } as const;
  for (
    const path of ["d/o.zip!/i.tar", "d/o.tar.gz!/i.tar"]
  ) {
    using shown = await open(`s3://bucket/${path}`, { remote });
    assert.equal(text(await shown.read("hello.txt")), "hello");
  }
  using chain = await open("tar::zip://i.tar::s3://bucket/d/o.zip", { remote });
  assert.equal(text(await chain.read("hello.txt")), "hello");
  for (const path of ["s/", "s/{a..b}.tar.gz"]) {
    using shards = await open(`s3://bucket/${path}`, { remote });
    assert.deepEqual(await shards.list(""), ["a", "b"]);
    assert.equal(text(await shards.read("b/y")), "y");
  }
});

Deno.test("fsspec URL chains are paths into containers", () => {
  const chains: [string, string][] = [
    ["tar://::zip://i.tar::s3://b/o.zip", "s3://b/o.zip!/i.tar"],
    ["tar::zip://i.tar::file:///d/o.zip", "/d/o.zip!/i.tar"],
    ["zip://a/b::o.zip", "o.zip!/a/b"],
    ["tar:///x::libarchive://i.tar::o.zip", "o.zip!/i.tar!/x"],
    ["simplecache::zip://i::https://h/o.zip", "https://h/o.zip!/i"],
    ["zip://i::filecache::https://h/o.zip", "https://h/o.zip!/i"],
    ["a.tar::b.tar", "a.tar::b.tar"],
    ["zip", "zip"],
    ["/d/zip::x", "/d/zip::x"],
  ];
  for (const [chain, path] of chains) assert.equal(chainedPath(chain), path);
  for (const chain of ["zip://i::ftp::o.zip", "zip://i::tar://::o.tar"]) {
    assert.throws(() => chainedPath(chain), { code: "unknown-scheme" });
  }
});

Deno.test({
  name: "fsspec reads the same content with the same chain",
  ...needs("python3", "fsspec"),
  fn: () =>
    withTempDir(async (dir) => {
      const inner = tar({ name: "d/hello.tar", data: hello });
      fs.writeFileSync(
        `${dir}/o.zip`,
        makeZip([{ name: "i.tar", data: inner }]),
      );
      const chain = `tar://d/hello.tar::zip://i.tar::file://${dir}/o.zip`;
      const program =
        "import fsspec, hashlib, sys\nwith fsspec.open(sys.argv[1]) as file: print(hashlib.sha256(file.read()).hexdigest())";
      const { stdout } = await run([PYTHON, "-c", program, chain]);
      using shown = await open(chain);
      assert.equal(text(await shown.read("hello.txt")), "hello");
      const { createHash } = await import("node:crypto");
      const hash = createHash("sha256").update(hello).digest("hex");
      assert.equal(stdout.trim(), hash);
    }),
});
