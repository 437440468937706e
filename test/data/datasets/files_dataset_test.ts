/** Datasets of the files of packed folders and of containers of any format. */
import assert from "node:assert/strict";
import { FormatError, PathError } from "../../../src/base/errors.ts";
import {
  DataError,
  type FileSample,
  PackedFolderDataset,
  RECIPE,
} from "../../../src/open/data/datasets.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { followRecipe } from "../../../src/data/recipe.ts";
import { PackedFolder } from "../../../src/formats/ffrecord/mod.ts";
import { open } from "../../../src/open/open.ts";
import { goldenCase } from "../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { assertPortable } from "../support/in_thread.ts";

const USER = new URL("../support/custom_dataset.ts", import.meta.url);
const tree = goldenCase("ffrecord/packed_tree");
const GULP = `${REPOSITORY}test/golden/gulp/v2_chunks/gulp`;
const BAGS = `${REPOSITORY}test/golden/granular2/lists/data`;

Deno.test("the files of a packed folder are in the order of its names, folders included", async () => {
  for (
    const name of ["packed_tree", "packed_not_utf8_names", "packed_sort_order"]
  ) {
    const { path } = goldenCase(`ffrecord/${name}`);
    using folder = PackedFolder.openSync(path);
    using dataset = await PackedFolderDataset.open(path);
    const listed = folder.list("", { recursive: true, dirs: false });
    assert.deepEqual(dataset.paths, listed);
    assert.equal(dataset.length, folder.numFiles);
    const all = await dataset.get([...dataset.paths.keys()]);
    assert.deepEqual(
      all,
      listed.map((path) => ({ path, content: folder.readSync(path) })),
    );
  }
});

Deno.test("globs, a function or a list choose files", async () => {
  const chosen = async (
    files: string | string[] | ((path: string) => boolean),
  ) => {
    using dataset = await PackedFolderDataset.open(tree.path, { files });
    return dataset.paths;
  };
  using all = await PackedFolderDataset.open(tree.path);
  const { paths } = all;
  const inWords = paths.filter((path) => path.startsWith("words/"));
  assert.ok(inWords.length > 1);
  assert.deepEqual(await chosen("words"), inWords);
  assert.deepEqual(await chosen("words/**"), inWords);
  assert.deepEqual(await chosen((path) => path.startsWith("words/")), inWords);
  assert.deepEqual(await chosen([]), []);
  assert.deepEqual(await chosen("no such file"), []);
  assert.deepEqual(await chosen(["...", "-dash"]), ["-dash", "..."]);
  await assert.rejects(chosen("[a"), { code: "bad-pattern" });

  const list = [inWords[1]!, "...", `./${inWords[1]}`, paths.at(-1)!];
  using listed = await PackedFolderDataset.open(tree.path, { paths: list });
  const expected = [inWords[1], "...", inWords[1], paths.at(-1)];
  assert.deepEqual(listed.paths, expected);
  const batch = await listed.get([2, 1]);
  assert.deepEqual(batch.map(({ path }) => path), [inWords[1], "..."]);
  for (const path of ["words", "nope"]) {
    await assert.rejects(
      PackedFolderDataset.open(tree.path, { paths: [path] }),
      (error) => error instanceof PathError && error.path === path,
    );
  }
  await assert.rejects(
    PackedFolderDataset.open(tree.path, { paths: list, files: "*" }),
    TypeError,
  );
});

Deno.test("errors name the container and the file", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    const bytes = ffrBytes(
      packedSamples({ a: { b: Uint8Array.of(1) }, c: Uint8Array.of(2) }),
    );
    bytes[12 + 12 * 3]! ^= 1; // the first byte of a/b
    await Deno.writeFile(path, bytes);
    using damaged = await PackedFolderDataset.open(path);
    await assert.rejects(
      damaged.get([1, 0]),
      (error) =>
        error instanceof FormatError && error.code === "sample-checksum" &&
        error.message.includes(path) && error.message.includes("'a/b'"),
    );
    using unchecked = await openDataset(path, { checkData: false });
    const [sample] = await unchecked.get([0]);
    assert.deepEqual(sample, { path: "a/b", content: Uint8Array.of(0) });
  });
});

Deno.test("another thread makes the same dataset of files", async () => {
  using packed = await PackedFolderDataset.open<string>(tree.path, {
    files: (path) => path.includes("o"),
    process: { module: USER, name: "nameFiles" },
  });
  await assertPortable(packed, [packed.length - 1, 0, 2]);
  using listed = await PackedFolderDataset.open(tree.path, {
    paths: ["...", "-dash"],
  });
  await assertPortable(listed, [1, 0]);
  const decode = false;
  using frames = await openDataset(GULP, { files: "*.jpg", decode });
  await assertPortable(frames, [frames.length - 1, 0]);
  using processed = await openDataset<string>(BAGS, {
    files: "*",
    decode,
    process: { module: USER, name: "nameFiles" },
  });
  await assertPortable(processed, [3, 1]);
});

Deno.test("some files of an opened container can be chosen", async () => {
  using fs = await open(GULP);
  using dataset = await openDataset(fs, { files: "meta.json" });
  assert.ok(dataset.length > 1);
  for (let i = 0; i < dataset.length; i++) {
    assert.match(dataset.fileOf(i)!, /\/meta\.json$/);
  }
  await dataset.get([0]);
});

Deno.test("the error says why another thread cannot make a dataset", async () => {
  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  using fs = await open(GULP);
  using given = await openDataset(fs, { files: "*" });
  assert.throws(() => given[RECIPE](), isRefusal(/Give openDataset\(\)/));
  class Sizes extends PackedFolderDataset<number> {
    protected override process(
      _: readonly number[],
      files: readonly FileSample[],
    ): number[] {
      return files.map(({ content }) => content.length);
    }
  }
  using sizes: Sizes = await Sizes.open(tree.path, { files: "-dash" });
  assert.deepEqual(await sizes.get([0]), [13]);
  assert.throws(
    () => sizes[RECIPE](),
    isRefusal(/^Cannot send Sizes to worker threads: it extends/),
  );
});

Deno.test("a container that was replaced in the meantime is not read by old indices", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    const one = Uint8Array.of(1);
    let time = 1_700_000_000;
    const pack = async (...names: string[]) => {
      const folder = Object.fromEntries(names.map((name) => [name, one]));
      await Deno.writeFile(path, ffrBytes(packedSamples(folder)));
      await Deno.utime(path, time, time++); // the kernel's timestamps may stay equal for some milliseconds
    };
    await pack("a", "b");
    using packed = await PackedFolderDataset.open(path);
    using any = await openDataset(path);
    const recipes = [packed[RECIPE](), any[RECIPE]()];
    for (const names of [["a", "c"], ["a"], ["0", "a", "b"]]) {
      await pack(...names);
      for (const recipe of recipes) {
        await assert.rejects(followRecipe(recipe), { code: "changed", path });
      }
    }
  });
});
