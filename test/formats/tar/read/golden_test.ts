/** Tars of independent writers, compared with what Python's tarfile finds in them. */
import assert from "node:assert/strict";
import { runAsync } from "../../../../src/io/concurrency/steps.ts";
import { encodeName } from "../../../../src/base/names.ts";
import { ROOT, type Tree } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { findNode } from "../../../../src/tree/vfs/paths.ts";
import { filePaths } from "../../../support/file_paths.ts";
import { sha256 } from "../../../support/golden.ts";
import { openWeb } from "../../../support/tar/open_web.ts";
import { type TarCase, tarCases } from "../../../support/tar/tar_golden.ts";

const onWarning = (message: string) => assert.fail(message);

for (const golden of tarCases()) {
  Deno.test(`tars of other writers are read as in Python: ${golden.name}`, () =>
    compare(golden));
}

async function compare({ path, content: { entries } }: TarCase): Promise<void> {
  using fs = await open(path, { onWarning });
  const shown = new Set<string>();
  for await (const entry of fs.walk("")) {
    if (entry.isFile) shown.add(entry.path);
  }
  const { tree } = fs;
  for (const entry of entries) {
    const { mtime } = await fs.stat(entry.path);
    if (entry.link !== undefined) {
      assert.equal(await linkAt(tree, entry.path), entry.link);
      continue;
    }
    assert.ok(shown.has(entry.path), entry.path);
    const bytes = await fs.read(entry.path);
    assert.equal(bytes.length, entry.size);
    assert.equal(sha256(bytes), entry.sha256, entry.path);
    assert.equal(mtime.getTime(), entry.mtime, entry.path);
  }
  const files = entries.filter(({ link }) => link === undefined);
  const links = entries.filter(({ link, path }) =>
    link !== undefined && shown.has(path)
  );
  assert.equal(shown.size, files.length + links.length);
  assert.equal(fs.info.files, shown.size);
}

async function linkAt(tree: Tree, path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  const parent = slash < 0
    ? ROOT
    : await runAsync(findNode(tree, path.slice(0, slash)));
  const name = encodeName(path.slice(slash + 1));
  const node = tree.lookup(parent, name, 0, name.length);
  assert.ok(tree.isLink!(node));
  const into = new Uint8Array(4096);
  const length = tree.readLink!(node, into, 1);
  return new TextDecoder().decode(into.subarray(1, 1 + length));
}

Deno.test("links lead to files and directories in the tar", async () => {
  const [golden] = tarCases().filter(({ name }) => name === "python_pax");
  using fs = await open(golden!.path, { onWarning });
  const text = async (path: string) =>
    new TextDecoder().decode(await fs.read(path));
  assert.equal(await text("d/soft"), "the last one wins");
  assert.equal((await fs.stat("d/soft")).size, "the last one wins".length);
  assert.equal(await text("dir-link/of/parents.txt"), "x".repeat(512));
  assert.deepEqual(await fs.list("dir-link/of"), ["parents.txt"]);
  assert.equal((await fs.list("")).includes("dir-link"), false);
  await assert.rejects(fs.read("dangling"), { name: "PathError" });
  assert.equal(await text("d/hard"), await text("d/b.bin"));
});

Deno.test("the files of all tars are read in one batch, synchronously and asynchronously", async () => {
  for (const { path } of tarCases()) {
    using fs = await open(path, { onWarning });
    using now = openSync(path, { onWarning });
    const paths = filePaths(fs);
    assert.deepEqual(filePaths(now), paths);
    const read = await fs.read(paths);
    assert.equal(read.length, fs.info.files);
    assert.deepEqual(now.readSync(paths), read);
  }
});

Deno.test("another thread reads the samples of all tars over the same tables", async () => {
  let count = 0;
  for (const { path } of tarCases()) {
    using samples = await openWeb(path, { onWarning() {} });
    const all = Array.from({ length: samples.length }, (_, i) => i);
    const read = await samples.read(all);
    assert.deepEqual(samples.readSync(all), read);
    const handle = structuredClone(samples.share());
    using shared = await OpenedSamples.openShared(handle);
    assert.deepEqual(await shared.read(all), read);
    count += read.length;
  }
  assert.ok(count > 27, `${count}`); // those of WebDataset, and of other tars
});
