/** Databases that Python's lmdb wrote: the keys and values that it finds in them. */
import assert from "node:assert/strict";
import { openSamples } from "../../../../mod.ts";
import { check, open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { sha256 } from "../../../support/golden.ts";
import { decodeName } from "../../../../src/base/names.ts";
import {
  type ExpectedValue,
  type LmdbCase,
  lmdbCase,
  lmdbCases,
} from "../../../support/lmdb/lmdb_golden.ts";

const onWarning = (message: string) => assert.fail(message);

for (const golden of lmdbCases()) {
  Deno.test(`the values are those that lmdb finds: ${golden.name}`, () =>
    compare(golden));
}

async function compare(
  { path, content: { entries } }: LmdbCase,
): Promise<void> {
  using fs = await open(path, { onWarning });
  using now = openSync(path, { onWarning });
  const shown: string[] = [];
  for await (const entry of fs.walk("")) {
    if (entry.isFile) shown.push(entry.path);
  }
  const paths = entries.map(({ path }) => path);
  assert.equal(fs.info.format, "lmdb");
  assert.equal(fs.info.files, entries.length);
  assert.equal(fs.info.facts!["values"], entries.length);
  assert.deepEqual(shown.sort(), paths.toSorted());
  const all = await fs.read(paths);
  assert.deepEqual(now.readSync(paths), all);
  const sums = entries.map(({ sha256 }) => sha256);
  assert.deepEqual(all.map(sha256), sums);
  for (const [i, { path, size }] of entries.entries()) {
    if (i % 10 > 0) continue;
    assert.equal((await fs.stat(path)).size, size);
    const part = await fs.readRange(path, 1, 100);
    assert.deepEqual(part, all[i]!.subarray(1, 101));
  }
  await compareSamples(path, entries, all);
  const damage = (error: Error) => assert.fail(error.message);
  const report = await check(path, { onDamage: damage, onWarning });
  assert.equal(report.samples, entries.length);
  assert.equal(report.compares, "structure");
}

/** Samples are the values in the order of cursors, also in another thread. */
async function compareSamples(
  path: string,
  entries: readonly ExpectedValue[],
  all: readonly Uint8Array[],
): Promise<void> {
  using samples = await openSamples(path, { onWarning });
  using others = await OpenedSamples.openShared(samples.share());
  assert.equal(samples.length, all.length);
  const indices = all.map((_, i) => i).reverse();
  const expected = indices.map((i) => ({ content: all[i] }));
  assert.deepEqual(await samples.read(indices), expected);
  assert.deepEqual(samples.readSync(indices), expected);
  assert.deepEqual(indices.map((i) => samples.readSync(i)), expected);
  assert.deepEqual(await others.read(indices), expected);
  for (const [i, { database, key, path }] of entries.entries()) {
    const name = decodeName(Uint8Array.fromHex(key));
    // Integers are decimal, and several values of a key numbered.
    const shown = /^(native|packed \d)/.test(path)
      ? path
      : `${database}/${name}${/\/\d{6}$/.exec(path)?.[0] ?? ""}`;
    assert.equal(samples.keyOf(i), shown.replace(/^\//, ""));
    assert.equal(others.keyOf(i), samples.keyOf(i));
  }
}

Deno.test("a database is opened by its directory, and by the file in it", async () => {
  const { path, content } = lmdbCase("caffe");
  using samples = await openSamples(`${path}/data.mdb`, { onWarning });
  assert.equal(samples.length, content.entries.length);
});

Deno.test("named databases, and keys of several values, are directories", async () => {
  using named = await open(lmdbCase("named").path, { onWarning });
  assert.deepEqual(await named.list(""), [
    "version",
    "images",
    "la%2Fbels",
    "none",
  ]);
  assert.deepEqual(await named.list("none"), []);
  assert.equal(named.info.facts!["databases"], 3);
  using several = await open(lmdbCase("duplicates").path, { onWarning });
  assert.deepEqual(await several.list("texts"), ["few", "many", "one"]);
  assert.deepEqual(await several.list("texts/one"), ["000000"]);
});

Deno.test("names that are numbers take the suffix of the option ext", async () => {
  using fs = await open(lmdbCase("integers").path, { ext: "txt", onWarning });
  assert.ok(await fs.isFile("native/255.txt"));
  assert.ok(await fs.isFile("packed 8/16000000.txt"));
  using mixed = await open(lmdbCase("one_file").path, {
    ext: "bin",
    onWarning,
  });
  assert.ok(await mixed.isFile("00000000.bin"));
  assert.ok(await mixed.isFile("__len__"));
  using several = await open(lmdbCase("duplicates").path, {
    ext: ".u32",
    onWarning,
  });
  assert.ok(await several.isFile("fixed/few/000002.u32"));
  using named = await open(lmdbCase("named").path, { ext: "png", onWarning });
  assert.ok(await named.isFile("images/00000.png"));
  assert.ok(await named.isFile("version"));
});
