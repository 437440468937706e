import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { LinkTree } from "../../src/tree/trees/link_tree.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import { shareNumbers } from "../../src/tree/shared_numbers.ts";
import {
  newExtent,
  newStat,
  reopenHandle,
  type Tree,
} from "../../src/tree/tree.ts";
import { type Folder, MemoryTree, MTIME } from "../fuse/support/memory_tree.ts";
import { folders, pathsOf } from "./support/random_folder.ts";
import { MODULE } from "./support/reversed_orders.ts";
import { listed, lookup, walked } from "./support/walked.ts";

interface Links {
  readonly indices?: readonly number[];
  readonly firstEpoch?: number;
  readonly epochs?: number;
}

async function linked(
  inner: Tree,
  { indices, firstEpoch = 0, epochs = 1 }: Links = {},
): Promise<LinkTree> {
  const samples = await samplesOf(inner);
  return await LinkTree.of(inner, {
    samples: samples.columns,
    indices: indices && shareNumbers(indices, samples.length),
    orders: { module: MODULE, data: indices?.length ?? samples.length },
    firstEpoch,
    epochs,
  });
}

function targetOf(tree: Tree, link: number): string {
  const into = new Uint8Array(4096);
  const length = tree.readLink!(link, into, 5);
  return new TextDecoder().decode(into.subarray(5, 5 + length));
}

/** Returns the suffix as Python's `os.path.splitext` does. */
function suffixOf(path: string): string {
  return /[^./][^/]*(\.[^./]+)$/.exec(path)?.[1] ?? "";
}

Deno.test("links are next to the tree, in the order of each epoch", async () => {
  await fc.assert(fc.asyncProperty(folders, async (folder) => {
    const inner = MemoryTree.of(folder);
    const tree = await linked(inner, { firstEpoch: 2, epochs: 2 });
    const paths = pathsOf(folder);
    const count = paths.length;
    for (const reopened of [tree, await reopenHandle(tree.share())]) {
      const [second, third, ...rest] = listed(reopened, 1);
      assert.deepEqual(rest, listed(inner, 1));
      assert.deepEqual([second!.name, third!.name], [
        "epoch-0002",
        "epoch-0003",
      ]);
      for (const [epoch, { node }] of [second!, third!].entries()) {
        const expected = Array.from({ length: count }, (_, position) => {
          const path = paths[(2 * count + 1 - position + epoch) % count]!;
          const number = String(position).padStart(8, "0");
          return [number + suffixOf(path), `../${path}`];
        });
        const links = listed(reopened, node);
        assert.deepEqual(
          links.map((link) => [link.name, targetOf(reopened, link.node)]),
          expected,
        );
        assert.deepEqual(listed(reopened, node, 1), links);
      }
      assert.equal(reopened.nodeCount, inner.nodeCount);
      const all = walked(reopened).map(([, node]) => node);
      assert.equal(new Set(all).size, all.length); // no two nodes share an id
      assert.ok(all.every(Number.isSafeInteger));
    }
  }));
});

const FOLDER: Folder = { train: { "a.jpg": "aaa", b: "b" }, "c.tar.gz": "" };

Deno.test("links and their directories are described", async () => {
  const tree = await linked(MemoryTree.of(FOLDER));
  const stat = newStat();
  const epoch = lookup(tree, 1, "epoch-0000");
  assert.ok(await tree.stat(epoch, stat));
  assert.deepEqual(stat, {
    isDirectory: true,
    isLink: false,
    size: 0,
    mtime: MTIME,
  });
  assert.equal(tree.parent(epoch), 1);
  const link = lookup(tree, epoch, "00000002.jpg");
  assert.ok(await tree.stat(link, stat));
  assert.deepEqual(stat, {
    isDirectory: false,
    isLink: true,
    size: "../train/a.jpg".length,
    mtime: MTIME,
  });
  assert.equal(tree.parent(link), epoch);
  assert.deepEqual([tree.isLink(link), tree.isLink(epoch)], [true, false]);
  // The stat object is reused.
  const file = lookup(tree, lookup(tree, 1, "train"), "a.jpg");
  assert.ok(await tree.stat(file, stat));
  assert.deepEqual([stat.isLink, stat.size], [false, 3]);
  assert.equal(tree.readLink(file, new Uint8Array(9), 0), -1);
  assert.equal(tree.readLink(epoch, new Uint8Array(9), 0), -1);
});

Deno.test("a link's content is its target, for programs without links", async () => {
  const tree = await linked(MemoryTree.of(FOLDER));
  const epoch = lookup(tree, 1, "epoch-0000");
  const extent = newExtent();
  assert.ok(await tree.locate(epoch + 1, extent));
  assert.equal(new TextDecoder().decode(extent.bytes), "../c.tar.gz");
  assert.equal(extent.length, "../c.tar.gz".length);
  assert.equal(await tree.locate(epoch, extent), false);
});

Deno.test("only the complete name of a link is found", async () => {
  const tree = await linked(MemoryTree.of(FOLDER), { firstEpoch: 12 });
  const epoch = lookup(tree, 1, "epoch-0012");
  assert.equal(lookup(tree, epoch, "00000000.gz"), epoch + 1);
  assert.equal(lookup(tree, epoch, "00000001"), epoch + 2);
  for (
    const name of [
      ...["00000000", "00000000.jpg", "00000000.gz ", "0.gz", "000000000.gz"],
      ...["00000003", "", "x".repeat(300), "00000001.jpg"],
    ]
  ) assert.equal(lookup(tree, epoch, name), 0, name);
  for (
    const name of ["epoch-", "epoch-0011", "epoch-0013", "epoch-00012", "epoch"]
  ) assert.equal(lookup(tree, 1, name), 0, name);
  assert.equal(lookup(tree, epoch + 1, "x"), 0);
});

Deno.test("links to a subset are in the order of its indices", async () => {
  const tree = await linked(MemoryTree.of(FOLDER), { indices: [2, 0, 0] });
  const epoch = lookup(tree, 1, "epoch-0000");
  assert.deepEqual(
    listed(tree, epoch).map(({ node }) => targetOf(tree, node)),
    ["../train/a.jpg", "../train/a.jpg", "../c.tar.gz"],
  );
});

Deno.test("only a short suffix counts as one", async () => {
  const tree = await linked(MemoryTree.of({
    [`a.${"x".repeat(31)}`]: "",
    [`b.${"x".repeat(32)}`]: "",
  }));
  const names = listed(tree, lookup(tree, 1, "epoch-0000"))
    .map(({ name }) => name);
  assert.deepEqual(names, ["00000000", `00000001.${"x".repeat(31)}`]);
});

Deno.test("a container with an entry of that name is rejected", async () => {
  const taken = MemoryTree.of({ "epoch-0001": { a: "" } });
  await assert.rejects(linked(taken, { epochs: 2 }), {
    code: "name-taken",
    message: /'epoch-0001'/,
  });
  await linked(taken, { epochs: 1 });
});

Deno.test("a target that is too deep for the system is an error, not a wrong link", async () => {
  let folder: Folder = { file: "" };
  for (let i = 0; i < 20; i++) folder = { ["d".repeat(250)]: folder };
  const tree = await linked(MemoryTree.of(folder));
  const link = lookup(tree, 1, "epoch-0000") + 1;
  const epoch = listed(tree, link - 1);
  assert.deepEqual(epoch, [{ name: "00000000", node: link }]); // listed nonetheless
  assert.throws(() => tree.stat(link, newStat()), { code: "too-long" });
  assert.throws(() => tree.readLink(link, new Uint8Array(5000), 0), {
    code: "too-long",
  });
});

Deno.test("more links than ids are rejected", async () => {
  const inner = MemoryTree.of(FOLDER);
  await assert.rejects(linked(inner, { epochs: 2 ** 52 }), {
    code: "too-many",
  });
});
