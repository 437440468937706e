/** Links to WebDataset samples of several files, in the orders of epochs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { arrangeTree } from "../../../../src/data/trees/arrange_tree.ts";
import { newStat, reopenHandle, ROOT } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { withTempDir } from "../../../support/paths.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import { openWebDataset } from "../../../support/tar/open_web.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";
import { listed, lookup } from "../../../tree/support/walked.ts";

/** Returns the links of a container's first epoch, and their targets. */
async function linksOf(path: string): Promise<[string, string][]> {
  using container = await open(path);
  const made = await arrangeTree(container.tree, {
    subset: undefined,
    shuffle: { seed: 5, firstEpoch: 0, epochs: 2 },
  }, container.info);
  const links: [string, string][][] = [];
  for (const tree of [made, await reopenHandle(made.share())]) {
    const epoch = lookup(tree, ROOT, "epoch-0000");
    const stat = newStat();
    links.push(
      listed(tree, epoch).map(({ name, node }) => {
        assert.equal(lookup(tree, epoch, name), node);
        assert.equal(tree.parent(node), epoch);
        const into = new Uint8Array(4096);
        const length = tree.readLink!(node, into, 0);
        assert.ok(tree.stat(node, stat) && stat.isLink);
        assert.equal(stat.size, length);
        return [name, new TextDecoder().decode(into.subarray(0, length))];
      }),
    );
    assert.equal(lookup(tree, epoch, "00000000.none"), 0);
    assert.deepEqual(listed(tree, epoch, 1), listed(tree, epoch));
  }
  assert.deepEqual(links[1], links[0]);
  return links[0]!;
}

/** Returns the keys of samples in a loader's order. */
async function keysOf(path: string): Promise<string[]> {
  using dataset = await openWebDataset(path, { fields: ["cls"] });
  const options = { batchSize: 1, shuffle: true, seed: 5 };
  await using loader = new DataLoader(dataset, options);
  const keys: string[] = [];
  for await (const { __key__ } of loader) keys.push(...__key__);
  return keys;
}

Deno.test("each file of a sample has a link, in the order in which a loader reads them", async () => {
  for (const name of ["webdataset", "shards"]) {
    const { path, content } = tarCase(name);
    const links = await linksOf(path);
    assert.equal(links.length, content.entries.length);
    const keys = await keysOf(path);
    const extensions = ["cls", "txt", "meta.json", "npy", "bin"];
    assert.deepEqual(
      links.map(([name]) => name),
      keys.flatMap((_, i) =>
        extensions.map((one) => `${String(i).padStart(8, "0")}.${one}`)
      ),
    );
    for (const [i, [name, target]] of links.entries()) {
      const key = keys[Math.floor(i / extensions.length)]!;
      const extension = name.slice(9);
      assert.ok(target.endsWith(`${key}.${extension}`), target);
    }
  }
});

Deno.test("samples have as many links as files", () =>
  withTempDir(async (dir) => {
    const files = [
      ...["a.cls", "a.jpg", "a.seg.png", "b.cls", "b.jpg"],
      ...["c.cls", "c.jpg", "c.seg.png", "d.cls"],
    ];
    fs.writeFileSync(
      `${dir}/a.tar`,
      tarBytes(files.map((name) => ({ name, data: "7" }))),
    );
    const links = await linksOf(`${dir}/a.tar`);
    const keys = await keysOf(`${dir}/a.tar`);
    assert.deepEqual(
      links,
      keys.flatMap((key, i) =>
        files.filter((name) => name.startsWith(key)).map((name) => [
          `${String(i).padStart(8, "0")}${name.slice(1)}`,
          `../${name}`,
        ])
      ),
    );
  }));
