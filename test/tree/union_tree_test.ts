import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { LinkTree } from "../../src/tree/trees/link_tree.ts";
import { PrefixTree } from "../../src/tree/trees/prefix_tree.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import { shareNumbers } from "../../src/tree/shared_numbers.ts";
import { SubsetTree } from "../../src/tree/trees/subset_tree.ts";
import { newExtent, reopenHandle, type Tree } from "../../src/tree/tree.ts";
import { nodeShare } from "../../src/tree/trees/union_columns.ts";
import { UnionTree } from "../../src/tree/trees/union_tree.ts";
import { RecordfsError } from "../../src/base/errors.ts";
import { ordersHandle } from "../../src/data/trees/epoch_orders.ts";
import { checkedTree } from "../fuse/support/checked_tree.ts";
import { MemoryTree } from "../fuse/support/memory_tree.ts";
import { folders } from "./support/random_folder.ts";
import { listed, lookup, walked } from "./support/walked.ts";

/** Returns a union of trees in directories `0`, `1` and so on. */
const unionOf = (...trees: Tree[]) =>
  UnionTree.of(
    trees.map((tree, i) => ({ tree, path: [`${i}`], name: `tree ${i}` })),
  );

Deno.test("a union of random folders shows each, and the locations of its bytes", async () => {
  const several = fc.array(folders, { minLength: 1, maxLength: 6 });
  await fc.assert(fc.asyncProperty(several, async (given) => {
    const trees = given.map((folder) => MemoryTree.of(folder));
    const union = unionOf(...trees);
    const expected = trees.flatMap((tree, i) => [
      `${i}/`,
      ...walked(tree).map(([path]) => `${i}/${path}`),
    ]);
    assert.deepEqual(walked(union).map(([path]) => path), expected);
    assert.equal(union.nodeCount, 1 + expected.length);
    const nodes = walked(union).map(([, node]) => node);
    assert.deepEqual(
      nodes.toSorted((a, b) => a - b),
      nodes.map((_, i) => i + 2), // ids have no gaps
    );
    assert.deepEqual(walked(await reopenHandle(union.share())), walked(union));
    for (const [i, tree] of trees.entries()) {
      const dir = lookup(union, 1, `${i}`);
      const above = walked(union, dir);
      for (const [at, [, node]] of walked(tree).entries()) {
        const [extent, own] = [newExtent(), newExtent()];
        assert.equal(
          union.locate(above[at]![1], extent),
          tree.locate(node, own),
        );
        if (own.source >= 0) own.source += i;
        assert.deepEqual(extent, own);
      }
    }
    for (const node of [0, -1, 0.5, nodes.length + 2, 2 ** 53, Infinity]) {
      assert.equal(union.isDirectory(node), false);
      assert.equal(union.locate(node, newExtent()), false);
      assert.deepEqual(listed(union, node), []);
      assert.equal(lookup(union, node, "0"), 0);
    }
  }));
});

Deno.test("nested listings of a union each report their own nodes", () => {
  const union = unionOf(
    MemoryTree.of({ a: { b: "" }, c: "" }),
    MemoryTree.of({ d: { e: "" }, f: "" }),
  );
  const [first, second] = [lookup(union, 1, "0"), lookup(union, 1, "1")];
  const within: unknown[] = [];
  const outer: number[] = [];
  union.list(first, 0, (_name, _start, _end, node) => {
    within.push(listed(union, second));
    outer.push(node);
    return true;
  });
  assert.deepEqual(outer, listed(union, first).map(({ node }) => node));
  assert.deepEqual(within, [listed(union, second), listed(union, second)]);
});

Deno.test("a union has checksums if one of its trees has", () => {
  const plain = MemoryTree.of({ a: "a" });
  assert.equal(unionOf(plain).sampleOf, undefined);
  const union = unionOf(plain, checkedTree());
  const small = lookup(union, lookup(union, 1, "1"), "small");
  assert.equal(union.sampleOf!(small), 0);
  assert.equal(
    union.sampleOf!(lookup(union, lookup(union, 1, "0"), "a")),
    -1,
  );
  const part = new PrefixTree(union, lookup(union, 1, "1"));
  assert.equal(part.sampleOf!(small), 0);
});

Deno.test("a tree with more nodes than its share is named", () => {
  const trees = [{ a: "a" }, { b: { c: "c", d: "d" } }]
    .map((folder, i) => ({
      tree: MemoryTree.of(folder),
      path: [`${i}`],
      name: `tree ${i}`,
    }));
  assert.equal(nodeShare(2, 8), 4);
  assert.equal(walked(UnionTree.of(trees, 8)).length, 6);
  assert.throws(
    () => UnionTree.of(trees, 7),
    (error) =>
      error instanceof RecordfsError && error.code === "too-large" &&
      error.path === "tree 1" && error.expected === 3 && error.actual === 4 &&
      /show tree 1 among 2 sources/.test(error.message),
  );
});

Deno.test("links above a union lead into each of its trees, and end like files", async () => {
  const files = MemoryTree.of({ "a.jpg": "a", b: { "c.txt": "c" } });
  const videos = Object.assign(MemoryTree.of({ "v.mp4": { "1.jpg": "1" } }), {
    samples: () => ({
      areDirectories: true,
      runs: [{ first: 2, stride: 1, count: 1 }],
    }),
  });
  const union = UnionTree.of([
    { tree: videos, path: ["x", "videos"], name: "videos" },
    { tree: files, path: ["files"], name: "files" },
  ]);
  const samples = await samplesOf(union);
  assert.equal(samples.columns.areDirectories, undefined); // some targets are directories
  const links = await LinkTree.of(union, {
    samples: samples.columns,
    indices: undefined,
    orders: ordersHandle({ length: samples.length, seed: 1 }),
    firstEpoch: 0,
    epochs: 2,
  });
  const targets: string[] = [];
  for (const { name, node } of listed(links, lookup(links, 1, "epoch-0001"))) {
    const into = new Uint8Array(4096);
    const length = links.readLink(node, into, 0);
    const target = new TextDecoder().decode(into.subarray(0, length));
    targets.push(target);
    const suffix = target.endsWith(".mp4")
      ? ""
      : target.slice(target.lastIndexOf("."));
    assert.match(name, new RegExp(`^\\d{8}${suffix.replace(".", "\\.")}$`));
  }
  assert.deepEqual(targets.toSorted(), [
    "../files/a.jpg",
    "../files/b/c.txt",
    "../x/videos/v.mp4",
  ]);
  assert.deepEqual(
    [0, 1, 2].map((i) => samples.node(i)),
    ["x/videos/v.mp4/", "files/a.jpg", "files/b/c.txt"].map((path) =>
      walked(union).find(([one]) => one === path)![1]
    ),
  );
});

Deno.test("a part of a tree has subsets and links of its own", async () => {
  const tree = MemoryTree.of({ x: "x", a: { b: { c: "c", d: "d" }, e: "e" } });
  const part = new PrefixTree(tree, lookup(tree, 1, "a"));
  assert.deepEqual(walked(part).map(([path]) => path), [
    "b/",
    "b/c",
    "b/d",
    "e",
  ]);
  const samples = await samplesOf(part);
  assert.equal(samples.length, 3);
  const kept = shareNumbers([1], samples.length);
  const subset = SubsetTree.of(part, samples, kept);
  assert.deepEqual(walked(subset).map(([path]) => path), ["b/", "b/d"]);
  const links = await LinkTree.of(subset, {
    samples: samples.columns,
    indices: kept,
    orders: ordersHandle({ length: 1, seed: 1 }),
    firstEpoch: 0,
    epochs: 1,
  });
  const [link] = listed(links, lookup(links, 1, "epoch-0000"));
  const into = new Uint8Array(4096);
  const length = links.readLink(link!.node, into, 0);
  assert.equal(new TextDecoder().decode(into.slice(0, length)), "../b/d");
});
