import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import { ascendingOnce, shareNumbers } from "../../src/tree/shared_numbers.ts";
import { SubsetTree } from "../../src/tree/trees/subset_tree.ts";
import {
  newExtent,
  newStat,
  reopenHandle,
  type SampleRun,
} from "../../src/tree/tree.ts";
import { MemoryTree } from "../fuse/support/memory_tree.ts";
import { folders, pathsOf } from "./support/random_folder.ts";
import { listed, lookup, walked } from "./support/walked.ts";

/** A folder and some of its files, in any order, possibly repeated. */
const cases = folders.chain((folder) =>
  fc.record({
    folder: fc.constant(folder),
    indices: fc.array(fc.nat(Math.max(pathsOf(folder).length - 1, 0)), {
      maxLength: pathsOf(folder).length === 0 ? 0 : 12,
    }),
  })
);

async function subsetOf(tree: MemoryTree, indices: readonly number[]) {
  const samples = await samplesOf(tree);
  const kept = ascendingOnce(shareNumbers(indices, samples.length));
  return SubsetTree.of(tree, samples, kept);
}

Deno.test("the samples of a tree are its files in the order of a walk", async () => {
  await fc.assert(fc.asyncProperty(folders, async (folder) => {
    const tree = MemoryTree.of(folder);
    const samples = await samplesOf(tree);
    const files = walked(tree).filter(([path]) => !path.endsWith("/"));
    assert.deepEqual(files.map(([path]) => path), pathsOf(folder));
    assert.equal(samples.length, files.length);
    files.forEach(([, node], i) => assert.equal(samples.node(i), node));
  }));
});

Deno.test("a subset shows its files and the directories that lead to them", async () => {
  let hidden = 0;
  await fc.assert(fc.asyncProperty(cases, async ({ folder, indices }) => {
    const tree = MemoryTree.of(folder);
    const subset = await subsetOf(tree, indices);
    const kept = pathsOf(folder).filter((_, i) => indices.includes(i));
    const isShown = (path: string) =>
      kept.some((file) => file === path || file.startsWith(path));
    const expected = walked(tree).filter(([path]) =>
      path.endsWith("/") ? isShown(path) : kept.includes(path)
    );
    hidden += walked(tree).length - expected.length;
    assert.deepEqual(walked(subset), expected);
    const reopened = await reopenHandle(subset.share());
    assert.deepEqual(walked(reopened), expected);
  }));
  assert.ok(hidden > 100, `only ${hidden} entries were hidden`);
});

Deno.test("names in a subset are found where they are listed, page by page or at once", async () => {
  await fc.assert(fc.asyncProperty(cases, async ({ folder, indices }) => {
    const tree = MemoryTree.of(folder);
    const subset = await subsetOf(tree, indices);
    for (const dir of [1, ...walked(subset).map(([, node]) => node)]) {
      if (!subset.isDirectory(dir)) continue;
      const shown = listed(subset, dir);
      assert.deepEqual(listed(subset, dir, 1), shown);
      for (const { name, node } of listed(tree, dir)) {
        const isShown = shown.some((entry) => entry.name === name);
        assert.equal(lookup(subset, dir, name), isShown ? node : 0);
      }
      assert.equal(lookup(subset, dir, "none"), 0);
    }
  }));
});

Deno.test("visible entries are described like in the whole tree", async () => {
  const tree = MemoryTree.of({ a: { b: "bb", c: "c" }, d: "ddd" });
  const subset = await subsetOf(tree, [0, 2]);
  assert.deepEqual(walked(subset).map(([path]) => path), ["a/", "a/b", "d"]);
  for (const [, node] of walked(subset)) {
    const [stat, same] = [newStat(), newStat()];
    assert.ok(subset.stat(node, stat));
    assert.ok(tree.stat(node, same));
    assert.deepEqual(stat, same);
    const [extent, sameExtent] = [newExtent(), newExtent()];
    assert.equal(subset.locate(node, extent), tree.locate(node, sameExtent));
    assert.deepEqual(extent, sameExtent);
    assert.equal(subset.parent(node), tree.parent(node));
  }
  assert.equal(subset.sampleOf, undefined); // the tree has no checksums
  assert.equal(subset.sources, tree.sources);
});

Deno.test("the samples of a subset are the visible ones, with their files", async () => {
  const runs: SampleRun[] = [
    { first: 100, stride: 1, count: 4 },
    { first: 0, stride: 0, count: 2 }, // skipped
    { first: 200, stride: 3, count: 4, width: 2 },
  ];
  const tree = MemoryTree.of({});
  Object.assign(tree, {
    samples: () => ({ areDirectories: false, runs }),
    parent: () => 1,
  });
  const all = await samplesOf(tree);
  await fc.assert(fc.asyncProperty(
    fc.uniqueArray(fc.nat(9)),
    async (indices) => {
      const kept = ascendingOnce(shareNumbers(indices, 10));
      const samples = await samplesOf(SubsetTree.of(tree, all, kept));
      assert.equal(samples.length, indices.length);
      for (const [i, index] of kept.entries()) {
        assert.equal(samples.node(i), all.node(index));
        assert.equal(samples.widthOf(i), all.widthOf(index));
        if (all.node(index) === 0) continue;
        const last = all.node(index) + all.widthOf(index) - 1;
        assert.equal(samples.indexOf(last), i);
      }
      for (const sample of [0, 3, 6, 9]) {
        if (indices.includes(sample)) continue;
        assert.equal(samples.indexOf(all.node(sample)), -1);
      }
    },
  ));
});
