import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError } from "../../../../src/base/errors.ts";
import { ROOT, type Tree } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";

const text = (value: string) => new TextEncoder().encode(value);

/** Returns every node of a tree by path, in walk order. */
function nodes(tree: Tree, dir = ROOT, prefix = ""): [string, number][] {
  const found: [string, number][] = [];
  tree.list(dir, 0, (name, start, end, node) => {
    const path = prefix + new TextDecoder().decode(name.slice(start, end));
    found.push([path, node]);
    if (tree.isDirectory(node)) found.push(...nodes(tree, node, `${path}/`));
    return true;
  });
  return found;
}

Deno.test("plain samples are numbered, at least six digits wide", async () => {
  const golden = goldenCase("ffrecord/plain_sizes");
  using fs = await open(golden.path);
  assert.equal(fs.info.kind, "samples");
  const names = Array.from(
    { length: 17 },
    (_, i) => String(i).padStart(6, "0"),
  );
  assert.deepEqual(await fs.list(), names);
  const hashes = (await fs.read(names)).map(sha256);
  assert.deepEqual(
    hashes,
    golden.content.samples.map((sample) => sample.sha256),
  );
  using jpegs = await open(golden.path, { ext: "jpg" });
  assert.deepEqual((await jpegs.list()).slice(-1), ["000016.jpg"]);
  assert.equal(await jpegs.exists("000016"), false);
  assert.equal(await jpegs.exists("000017.jpg"), false);
});

Deno.test("numbers have more digits with more samples", async () => {
  await withTempDir(async (dir) => {
    const count = 1_000_001;
    const header = new Uint8Array(12 + 12 * count);
    const view = new DataView(header.buffer);
    view.setBigInt64(4, BigInt(count), true);
    for (let i = 0; i < count; i++) {
      view.setBigInt64(12 + 4 * count + 8 * i, BigInt(header.length), true);
    }
    fs.writeFileSync(`${dir}/a.ffr`, header);
    using vfs = await open(`${dir}/a.ffr`, { onWarning() {} });
    assert.equal(await vfs.isFile("0000000"), true);
    assert.equal(await vfs.isFile("1000000"), true);
    assert.equal(await vfs.exists("000000"), false);
    assert.equal(await vfs.exists("1000001"), false);
  });
});

Deno.test("a directory of parts is one sequence, or one packed folder, or folders", async () => {
  await withTempDir(async (dir) => {
    const a = packedSamples({ one: text("1"), two: { three: text("3") } });
    const b = packedSamples({ one: text("eins") });
    const cases: [string, Record<string, Uint8Array[]>, string, string[]][] = [
      [
        "parts",
        { "x.ffr": [text("0")], "y.ffr": [text("1"), text("2")] },
        "samples in several files",
        [
          "000000",
          "000001",
          "000002",
        ],
      ],
      [
        "spread",
        { "x.ffr": a.slice(0, 1), "y.ffr": a.slice(1) },
        "packed folder",
        [
          "one",
          "two",
          "two/three",
        ],
      ],
      ["single", { "x.ffr": a }, "packed folder", ["one", "two", "two/three"]],
      [
        "packed",
        { "a.ffr": a, ".ffr": b, "b.c.ffr": b },
        "directory of packed folders",
        [
          ".ffr",
          ".ffr/one",
          "a",
          "a/one",
          "a/two",
          "a/two/three",
          "b.c",
          "b.c/one",
        ],
      ],
    ];
    for (const [name, files, kind, paths] of cases) {
      fs.mkdirSync(`${dir}/${name}`);
      for (const [file, samples] of Object.entries(files)) {
        fs.writeFileSync(`${dir}/${name}/${file}`, ffrBytes(samples));
      }
      using vfs = await open(`${dir}/${name}`);
      assert.equal(vfs.info.kind, kind);
      assert.deepEqual(
        (await Array.fromAsync(vfs.walk())).map(({ path }) => path),
        paths,
      );
    }
    using packed = await open(`${dir}/packed`);
    assert.deepEqual(await packed.read("b.c/one"), text("eins"));
    assert.deepEqual(await packed.read("a/two/three"), text("3"));
    // Indices in the last file's structure would refer to samples of the first file.
    fs.writeFileSync(`${dir}/packed/0.ffr`, ffrBytes([text("plain")]));
    await assert.rejects(
      open(`${dir}/packed`),
      (error) =>
        error instanceof FormatError && error.code === "bad-structure" &&
        /one by one/.test(error.message),
    );
  });
});

Deno.test("a damaged offset does not prevent listing the others", async () => {
  const golden = goldenCase("ffrecord/bad_offset_huge");
  using fs = await open(golden.path);
  assert.equal((await fs.list()).length, golden.content.n);
  for (const { index, error, size } of golden.content.samples) {
    const path = String(index).padStart(6, "0");
    if (error === undefined) assert.equal((await fs.stat(path)).size, size);
    else await assert.rejects(fs.stat(path), FormatError);
  }
});

Deno.test("a truncated file whose kind is unknown is rejected, and opens as samples", async () => {
  const golden = goldenCase("ffrecord/bad_truncated_middle");
  await assert.rejects(
    open(golden.path),
    (error) =>
      error instanceof FormatError && error.code === "out-of-bounds" &&
      /ffrecord-samples/.test(error.message),
  );
  using fs = await open(golden.path, { format: "ffrecord-samples" });
  const good = golden.content.samples.filter(({ error }) =>
    error === undefined
  );
  for (const { index, sha256: hash } of good) {
    assert.equal(sha256(await fs.read(String(index).padStart(6, "0"))), hash);
  }
});

Deno.test("a format can be forced", async () => {
  const { path } = goldenCase("ffrecord/packed_one_file");
  using samples = await open(path, { format: "ffrecord-samples" });
  assert.deepEqual(await samples.list(), ["000000", "000001"]);
  await assert.rejects(
    open(goldenCase("ffrecord/plain_one").path, { format: "ffrecord-packed" }),
    (error) => error instanceof FormatError && error.code === "not-packed",
  );
  await assert.rejects(
    open(path, { format: "rar" }),
    /format 'rar': it is unknown\..*ffrecord/,
  );
});
