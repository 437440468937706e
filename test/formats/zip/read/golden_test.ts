/** Zips of independent writers, compared with what Python's zipfile finds in them. */
import assert from "node:assert/strict";
import { openSamples } from "../../../../mod.ts";
import { runAsync } from "../../../../src/io/concurrency/steps.ts";
import { newExtent } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { findNode } from "../../../../src/tree/vfs/paths.ts";
import { whenLoaded } from "../../../../src/tree/not_loaded.ts";
import { filePaths } from "../../../support/file_paths.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  type ZipCase,
  zipCase,
  zipCases,
} from "../../../support/zip/zip_golden.ts";

const onWarning = (message: string) => assert.fail(message);

for (const golden of zipCases()) {
  Deno.test(`zips of other writers are read as in Python: ${golden.name}`, () =>
    compare(golden));
}

async function compare({ path, content: { entries } }: ZipCase): Promise<void> {
  using fs = await open(path, { onWarning });
  const shown = new Set<string>();
  for await (const entry of fs.walk("")) {
    if (entry.isFile) shown.add(entry.path);
  }
  assert.equal(fs.info.format, "zip");
  assert.equal(fs.info.files, entries.length);
  assert.deepEqual([...shown].sort(), entries.map(({ path }) => path).sort());
  const all = await fs.read(entries.map(({ path }) => path));
  const extent = newExtent();
  for (const [i, entry] of entries.entries()) {
    assert.equal(sha256(all[i]!), entry.sha256, entry.path);
    assert.equal((await fs.stat(entry.path)).size, entry.size);
    const part = await fs.readRange(entry.path, 1, 100);
    assert.deepEqual(part, all[i]!.subarray(1, 101));
    const node = await runAsync(findNode(fs.tree, entry.path));
    await runAsync(whenLoaded(() => fs.tree.locate(node, extent)));
    if (entry.stored) assert.equal(extent.source, 0, entry.path);
    else if (entry.size > 0) assert.ok(extent.source > 0, entry.path);
  }
}

Deno.test("times are those of the members, and directories without files are shown", async () => {
  for (const name of ["info_zip", "info_zip_stored", "python"]) {
    using fs = await open(zipCase(name).path, { onWarning });
    const { mtime } = await fs.stat("a.txt");
    const isUtc = name === "info_zip_stored"; // it has Unix times
    const written = isUtc
      ? new Date(Date.UTC(2024, 1, 29, 12, 34, 56))
      : new Date(2024, 1, 29, 12, 34, 56);
    assert.equal(mtime.getTime(), written.getTime(), name);
    assert.ok((await fs.stat("none")).isDirectory);
    assert.deepEqual(await fs.list("none"), []);
  }
});

Deno.test("the last of several files of one name is shown", async () => {
  using fs = await open(zipCase("python_twice").path, { onWarning });
  const text = new TextDecoder().decode(await fs.read("a.txt"));
  assert.equal(text, "the last one wins");
  assert.deepEqual(await fs.list(""), ["a.txt", "b.txt", "d"]);
});

Deno.test("all files are read in one batch, synchronously and asynchronously, and as samples in another thread", async () => {
  for (const { path, content: { entries } } of zipCases()) {
    using fs = await open(path, { onWarning });
    using now = openSync(path, { onWarning });
    const paths = filePaths(fs);
    assert.deepEqual(filePaths(now), paths);
    assert.equal(paths.length, entries.length);
    const read = await fs.read(paths);
    assert.deepEqual(now.readSync(paths), read);
    assert.throws(() => now.readSync("no such file"), { name: "PathError" });
    using files = await openSamples(path, { onWarning });
    const handle = structuredClone(files.share());
    using shared = await OpenedSamples.openShared(handle);
    assert.deepEqual(
      await shared.read(Array(files.length).keys()),
      paths.map((path, i) => ({ path, content: read[i] })),
    );
  }
});
