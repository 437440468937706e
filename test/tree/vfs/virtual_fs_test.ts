import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "../../support/random.ts";
import {
  FormatError,
  PathError,
  RecordfsError,
} from "../../../src/base/errors.ts";
import { open } from "../../../src/open/open.ts";
import { openSync } from "../../../src/open/mod.ts";
import { goldenCase, sha256 } from "../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

const tree = goldenCase("ffrecord/packed_tree");
const files = tree.content.entries.filter(({ type }) => type === "file");

Deno.test("walk() and list() show the packed entries, in order", async () => {
  using vfs = await open(tree.path);
  const walked = await Array.fromAsync(vfs.walk());
  assert.deepEqual(
    walked.map((
      { path, isFile, isDirectory, name },
    ) => [path, isFile, isDirectory, name]),
    tree.content.entries.map((
      { path, type },
    ) => [path, type === "file", type === "dir", path.split("/").at(-1)]),
  );
  assert.deepEqual([...vfs.walkSync()], walked);
  const words = tree.content.entries.filter(({ path }) =>
    path.startsWith("words/")
  ).map(({ path }) => path);
  assert.deepEqual(
    (await Array.fromAsync(vfs.walk("/words/"))).map(({ path }) => path),
    words,
  );
  const direct = words.map((path) => path.slice(6)).filter((path) =>
    !path.includes("/")
  );
  assert.deepEqual(await vfs.list("./words"), direct);
  assert.deepEqual(vfs.listSync("words"), direct);
  assert.deepEqual(
    [...vfs.walkSync("words", { maxDepth: 1 })].map(({ name }) => name),
    direct,
  );
  for (const maxDepth of [0, -1, NaN]) {
    assert.throws(() => [...vfs.walkSync("words", { maxDepth })], RangeError);
  }
  assert.equal(vfs.info.files, files.length);
  assert.equal(
    vfs.info.directories,
    tree.content.entries.length - files.length,
  );
});

Deno.test("read() returns contents one by one and as a batch", async () => {
  using vfs = await open(tree.path);
  const paths = files.map(({ path }) => path);
  const hashes = files.map(({ sha256 }) => sha256);
  assert.deepEqual((await vfs.read(paths)).map(sha256), hashes);
  assert.deepEqual(
    vfs.readSync(paths.toReversed()).map(sha256),
    hashes.toReversed(),
  );
  for (const { path, size, sha256: hash } of files) {
    assert.equal(sha256(await vfs.read(`/${path}`)), hash);
    assert.equal(sha256(vfs.readSync(path)), hash);
    assert.equal((await vfs.stat(path)).size, size);
    const chunks = await Array.fromAsync(await vfs.stream(path));
    assert.equal(
      sha256(new Uint8Array(await new Blob(chunks).arrayBuffer())),
      hash,
    );
  }
});

Deno.test("readRange() is a slice of the whole, limited to the end of the file", async () => {
  using vfs = await open(tree.path);
  const { path } = files.find(({ size }) => size > 20_000)!;
  const whole = await vfs.read(path);
  const at = fc.nat(whole.length + 100);
  await fc.assert(
    fc.asyncProperty(at, at, async (offset, length) => {
      const expected = whole.slice(offset, offset + length);
      assert.deepEqual(await vfs.readRange(path, offset, length), expected);
      assert.deepEqual(vfs.readRangeSync(path, offset, length), expected);
    }),
  );
  for (const bad of [-1, 1.5, NaN, Infinity]) {
    await assert.rejects(vfs.readRange(path, bad, 1), RangeError);
    assert.throws(() => vfs.readRangeSync(path, 0, bad), RangeError);
  }
});

Deno.test("stat(), exists(), isFile() and isDir() agree", async () => {
  using vfs = await open(tree.path);
  const { mtime } = fs.statSync(tree.path);
  for (const { path, type, size } of tree.content.entries) {
    const stat = await vfs.stat(path);
    assert.deepEqual(stat, vfs.statSync(path));
    assert.equal(stat.isFile, type === "file");
    assert.equal(stat.isDirectory, type === "dir");
    assert.equal(stat.size, size ?? 0);
    assert.equal(stat.mtime.getTime(), Math.trunc(mtime.getTime()));
    assert.equal(await vfs.exists(path), true);
    assert.equal(await vfs.isFile(path), type === "file");
    assert.equal(await vfs.isDir(path), type === "dir");
    assert.equal(vfs.existsSync(path), true);
    assert.equal(vfs.isFileSync(path), type === "file");
    assert.equal(vfs.isDirSync(path), type === "dir");
  }
  assert.equal(await vfs.isDir("/"), true);
  assert.equal((await vfs.stat("")).isDirectory, true);
  for (const path of ["no such", "words/..", "..", "Upper/x"]) {
    assert.equal(await vfs.exists(path), false);
    assert.equal(vfs.isFileSync(path) || vfs.isDirSync(path), false);
  }
});

Deno.test("a missing path is named", async () => {
  using vfs = await open(tree.path);
  const is = (code: string, path: string) => (error: unknown) =>
    error instanceof PathError && error.code === code && error.path === path &&
    error.message.includes(tree.path);
  await assert.rejects(vfs.read("x/y"), is("not-found", "x/y"));
  await assert.rejects(
    vfs.read(["Upper", "words"]),
    is("is-directory", "words"),
  );
  await assert.rejects(vfs.stat("x"), is("not-found", "x"));
  await assert.rejects(vfs.list("Upper"), is("not-directory", "Upper"));
  await assert.rejects(vfs.stream("words"), is("is-directory", "words"));
  await assert.rejects(vfs.walk("x").next(), is("not-found", "x"));
});

Deno.test("damage is reported on whole reads and streams, and not hidden by ranges", async () => {
  await withTempDir(async (dir) => {
    const content = new Uint8Array(3_000_000).fill(1);
    const bytes = ffrBytes([content]);
    bytes[bytes.length - 1]! ^= 1;
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(path, bytes);
    const damage = (error: unknown) =>
      error instanceof FormatError && error.code === "sample-checksum" &&
      error.path === "000000";
    using vfs = await open(path);
    await assert.rejects(vfs.read("000000"), damage);
    await assert.rejects(vfs.read(["000000"]), damage);
    assert.throws(() => vfs.readSync("000000"), damage);
    await assert.rejects(Array.fromAsync(await vfs.stream("000000")), damage);
    assert.deepEqual(await vfs.readRange("000000", 10, 2), Uint8Array.of(1, 1));
    using careless = await open(path, { checkData: false });
    assert.equal((await careless.read("000000")).at(-1), 0);
    assert.equal(
      (await Array.fromAsync(await careless.stream("000000"))).length,
      3,
    );
  });
});

Deno.test("an aborted wait rejects with its reason", async () => {
  using vfs = await open(tree.path);
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(vfs.read("Upper", { signal }), reason);
  await assert.rejects(vfs.list("", { signal }), reason);
  await assert.rejects(vfs.stat("Upper", { signal }), reason);
  await assert.rejects(vfs.walk("", { signal }).next(), reason);
  const controller = new AbortController();
  const stream = await vfs.stream(files.at(-1)!.path, {
    signal: controller.signal,
  });
  controller.abort(reason);
  await assert.rejects(Array.fromAsync(stream), reason);
});

Deno.test("open() accepts a signal", async () => {
  const reason = new Error("enough");
  await assert.rejects(
    open(tree.path, { signal: AbortSignal.abort(reason) }),
    reason,
  );
});

Deno.test("a deep tree is walked without recursion", async () => {
  const deep = goldenCase("ffrecord/hostile_deep");
  using vfs = await open(deep.path);
  let depth = 0;
  for await (const entry of vfs.walk()) if (entry.isDirectory) depth++;
  assert.ok(depth > 20_000);
});

Deno.test("a format is recognised by content, not by name", async () => {
  await withTempDir(async (dir) => {
    const samples = packedSamples({ a: Uint8Array.of(1) });
    fs.writeFileSync(`${dir}/no-suffix`, ffrBytes(samples));
    fs.writeFileSync(`${dir}/empty-records`, ffrBytes([]));
    using packed = await open(`${dir}/no-suffix`);
    assert.equal(packed.info.kind, "packed folder");
    assert.deepEqual(
      openSync(new URL(`file://${dir}/no-suffix`)).readSync("a"),
      Uint8Array.of(1),
    );
    using empty = await open(`${dir}/empty-records`);
    assert.deepEqual(await empty.list(), []);
    for (
      const [name, content] of [
        ["text", "hello, this is text and nothing else"],
        ["nothing", ""],
        ["jpeg", "\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\x01\0\x48\0\x48"],
      ]
    ) {
      fs.writeFileSync(`${dir}/${name}`, content!, "latin1");
      await assert.rejects(
        open(`${dir}/${name}`),
        (error) =>
          error instanceof FormatError && error.code === "unknown-format" &&
          /ffrecord/.test(error.message),
      );
    }
    fs.mkdirSync(`${dir}/sub`);
    await assert.rejects(
      open(`${dir}/sub`),
      /holds no \.ffr, \.gulp, \.gmeta, \.bagz, \.bag, \.tar, \.parquet, \.arrow, \.arrows, \.feather, \.ipc, \.safetensors, \.tfrecord, \.tfrecords, \.rec, \.mds, \.lmdb or \.mdb file/,
    );
    await assert.rejects(
      open(`${dir}/missing`),
      (error) =>
        error instanceof RecordfsError && /no such file/.test(error.message),
    );
  });
});

Deno.test("reading needs only --allow-read", async () => {
  const script = `
    import { open } from "file://${REPOSITORY}mod.ts";
    import { PackedFolder } from "file://${REPOSITORY}src/formats/ffrecord/mod.ts";
    using vfs = await open(Deno.args[0]);
    const names = await vfs.list();
    using folder = await PackedFolder.open(Deno.args[0]);
    console.log(names.length, (await folder.read("...")).length);`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-read",
      "--no-prompt",
      `data:application/typescript,${encodeURIComponent(script)}`,
      tree.path,
    ],
    cwd: new URL("../../", import.meta.url),
  }).output();
  assert.equal(
    new TextDecoder().decode(stderr).replace(/^.*Check.*\n/gm, ""),
    "",
  );
  assert.equal(code, 0);
  const top = tree.content.entries.filter(({ path }) => !path.includes("/"));
  assert.equal(new TextDecoder().decode(stdout), `${top.length} 28\n`);
});
