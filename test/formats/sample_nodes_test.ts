/** What each format's tree takes for the samples of its dataset, and what it calls them. */
import assert from "node:assert/strict";
import { LONGEST_NAME } from "../../src/tree/names/name_table_builder.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import {
  type NodeId,
  reopenHandle,
  ROOT,
  type Tree,
} from "../../src/tree/tree.ts";
import { open } from "../../src/open/mod.ts";
import { decodeName } from "../../src/base/names.ts";
import { bagCases, datasetCase } from "../support/bags/bag_golden.ts";
import { goldenCase } from "../support/golden.ts";
import { mdsCase } from "../support/mds/mds_golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";

const numbers = (count: number) =>
  Array.from({ length: count }, (_, i) => String(i).padStart(6, "0"));

/** The path of a node by the names of those above. */
function pathOf(tree: Tree, node: NodeId): string {
  const name = new Uint8Array(LONGEST_NAME);
  const parts: string[] = [];
  for (let at = node; at !== ROOT; at = tree.parent(at)) {
    parts.unshift(decodeName(name, 0, tree.nameOf!(at, name)));
  }
  assert.equal(tree.nameOf!(ROOT, name), 0);
  return parts.join("/");
}

async function assertSamples(
  path: string,
  expected: readonly string[],
  options: { format?: string; ext?: string; decoded?: boolean } = {},
): Promise<void> {
  using vfs = await open(path, options);
  for (const tree of [vfs.tree, await reopenHandle(vfs.tree.share())]) {
    const samples = await samplesOf(tree);
    assert.deepEqual(
      Array.from(
        { length: samples.length },
        (_, i) => pathOf(tree, samples.node(i)),
      ),
      expected,
    );
    for (let i = 0; i < samples.length; i++) {
      const node = samples.node(i);
      assert.equal((await vfs.stat(expected[i]!)).ino, node);
      assert.equal(tree.isDirectory(node), samples.columns.areDirectories);
    }
    if (tree !== vfs.tree) tree.close();
  }
}

Deno.test("samples of an FFRecord file, and of several", async () => {
  const one = goldenCase("ffrecord/plain_many");
  await assertSamples(one.path, numbers(one.content.n));
  const { path, content } = goldenCase("ffrecord/parts_dump");
  const names = numbers(content.n).map((name) => `${name}.jpg`);
  await assertSamples(path, names, { ext: "jpg" });
  const empty = goldenCase("ffrecord/plain_zero");
  await assertSamples(empty.path, []);
});

for (const name of ["packed_tree", "packed_sort_order", "packed_only_dirs"]) {
  Deno.test(`samples of a packed folder: ${name}`, async () => {
    const { path, content } = goldenCase(`ffrecord/${name}`);
    const files = content.entries.filter(({ type }) => type === "file");
    await assertSamples(path, files.map(({ path }) => path));
    const count = String(content.n - 1).length;
    assert.ok(count <= 6);
    await assertSamples(path, numbers(content.n), {
      format: "ffrecord-samples",
    });
  });
}

for (const name of ["v1_chunks", "v2_odd_ids", "v2_image_list"]) {
  Deno.test(`samples of a gulp directory: ${name}`, async () => {
    const { path, content } = gulpCase(name);
    using vfs = await open(path);
    const names = (await vfs.list()).filter((name) =>
      name !== "label2idx.json"
    );
    assert.equal(names.length, content.videos.length);
    await assertSamples(path, names);
  });
}

Deno.test("samples of MDS are directories, of all shards", async () => {
  await assertSamples(mdsCase("merged").path, numbers(7));
});

Deno.test("videos that are left out keep their places among the samples", async () => {
  for (const name of ["v2_bad_frame_beyond_end", "v1_bad_truncated_data"]) {
    const { path, content } = gulpCase(name);
    using vfs = await open(path, { onWarning() {} });
    const samples = await samplesOf(vfs.tree);
    assert.equal(samples.length, content.videos.length);
    let missing = 0;
    for (const [i, { id, error }] of content.videos.entries()) {
      const node = samples.node(i);
      if (error === undefined) assert.equal(pathOf(vfs.tree, node), id);
      else missing += Number(node === 0);
    }
    assert.equal(missing, 1, name);
  }
});

for (const name of ["types", "lists", "many_datapoints", "sharded"]) {
  Deno.test(`samples of a dataset of bags: ${name}`, async () => {
    const { path, content } = datasetCase(`bags/${name}`);
    const expected = content!.shards.flatMap(({ name, length }) =>
      numbers(length).map((row) => name === "." ? row : `${name}/${row}`)
    );
    assert.ok(expected.length > 0);
    await assertSamples(path, expected);
    await assertSamples(path, expected, { decoded: true });
  });
}

Deno.test("samples of a bag are its records", async () => {
  const { path, content } = bagCases.find(({ name }) => name === "bag/many")!;
  const count = content!.records.length;
  assert.ok(count > 1);
  await assertSamples(path, numbers(count));
});
