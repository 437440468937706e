/**
 * Nodes of every format's trees: each has one id, under which it is found where it is listed, on every open and in
 * other threads; and samples are nodes.
 */
import assert from "node:assert/strict";
import { decodeName } from "../../../src/base/names.ts";
import { RecordfsError } from "../../../src/base/errors.ts";
import { formatNamed } from "../../../src/formats/registry.ts";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { type ContainerOptions, openSync } from "../../../src/open/mod.ts";
import { open } from "../../../src/open/open.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { LONGEST_NAME } from "../../../src/tree/names/name_table_builder.ts";
import { whenLoaded } from "../../../src/tree/not_loaded.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import {
  areOpen,
  type NodeId,
  reopenHandle,
  ROOT,
  type Tree,
} from "../../../src/tree/tree.ts";
import { assertConsistent } from "../../tree/support/consistent_tree.ts";
import { type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Trees with more files are skipped. */
const MOST = 500;

/** Options that change the tree, besides the format's variants. */
const MODES: readonly ContainerOptions[] = [
  {},
  { decoded: true },
  { sampleView: true },
  { ext: "bin" },
];

/** Returns the path of a node, composed of its ancestors' names. */
function pathOf(tree: Tree, node: NodeId): string {
  const name = new Uint8Array(LONGEST_NAME);
  const parts: string[] = [];
  for (let at = node; at !== ROOT; at = tree.parent(at)) {
    parts.unshift(decodeName(name, 0, tree.nameOf!(at, name)));
  }
  assert.equal(tree.nameOf!(ROOT, name), 0);
  return parts.join("/");
}

/** Asserts that samples are nodes of one kind, in walk order, which are found by their names. */
async function assertSamples(
  { isInOwnOrder, areNoNodes }: FormatCase,
  shown: VirtualFs,
  tree: Tree,
): Promise<void> {
  const samples = await samplesOf(tree);
  const { areDirectories } = samples.columns;
  assert.equal(samples.length, countSamples(shown.info).length);
  if (areNoNodes && samples.largestNode === 0) return;
  const order = new Map(
    (await Array.fromAsync(shown.walk())).map(({ ino }, i) => [ino, i]),
  );
  const seen = new Set<NodeId>();
  let before = -1;
  for (let i = 0; i < samples.length; i++) {
    const node = samples.node(i);
    const at = order.get(node);
    assert.ok(at !== undefined && !seen.has(node), `sample ${i}`);
    assert.ok(isInOwnOrder || at > before, `sample ${i}`);
    seen.add(node);
    before = at;
    if (areDirectories !== undefined) {
      assert.equal(tree.isDirectory(node), areDirectories);
    }
    if (tree.nameOf === undefined) continue;
    assert.equal((await shown.stat(pathOf(tree, node))).ino, node);
  }
}

/** Asserts that another thread has the source files of extents, in the same order. */
function assertSources({ sources }: Tree, again: Tree["sources"]): void {
  if (!areOpen(sources) || !areOpen(again) || again.length === 0) return;
  assert.deepEqual(
    again.map(({ name, size }) => [name, size]),
    sources.map(({ name, size }) => [name, size]),
  );
}

/** Compares the nodes of a tree with those of a synchronous open, and of another thread. */
async function assertNodes(
  format: FormatCase,
  path: string,
  options: ContainerOptions,
): Promise<void> {
  using shown = await open(path, options);
  if (shown.info.files > MOST) return;
  using now = openSync(path, options);
  const { tree } = shown;
  const again = await reopenHandle(structuredClone(tree.share()));
  try {
    assertSources(tree, again.sources);
    for (const other of [now.tree, again]) {
      const count = await runAsync(
        whenLoaded(() => assertConsistent(tree, other)),
      );
      if (tree.lastNode === undefined) assert.equal(count, tree.nodeCount);
      await assertSamples(format, shown, other);
    }
  } finally {
    again.close();
  }
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: each node is found where it is listed, on every open and in other threads`, () =>
    withSmall(format, async (small) => {
      const { name: own, goldens } = format;
      const sound = goldens.filter(({ isSound }) => isSound);
      for (const path of [small, ...sound.map(({ path }) => path)]) {
        for (const mode of MODES) {
          await assertNodes(format, path, {
            ...mode,
            format: own,
            onWarning() {},
          });
        }
        for (const { name } of formatNamed(own).variants ?? []) {
          try {
            await assertNodes(format, path, { format: name, onWarning() {} });
          } catch (error) {
            if (!(error instanceof RecordfsError)) throw error; // the container has no such variant
          }
        }
      }
    }));
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: the tree among other containers equals the tree alone`, () =>
    withSmall(format, async (small) => {
      const { name, goldens } = format;
      const sound = goldens.filter(({ isSound }) => isSound).slice(0, 3);
      const paths = [small, ...sound.map(({ path }) => path), small];
      const places = paths.map((location, i) => ({
        location,
        path: `${i}/in`,
      }));
      for (const decoded of [false, true]) {
        const options = { format: name, decoded, onWarning() {} };
        using all = await open(places, options);
        const again = await reopenHandle(structuredClone(all.tree.share()));
        await runAsync(whenLoaded(() => assertConsistent(all.tree, again)));
        again.close();
        for (const { location, path } of places) {
          using alone = await open(location, options);
          const entries = await Array.fromAsync(alone.walk());
          const there = await Array.fromAsync(all.walk(path));
          assert.deepEqual(
            there.map(({ path, isFile }) => [path, isFile]),
            entries.map((one) => [`${path}/${one.path}`, one.isFile]),
          );
          assert.deepEqual(
            await all.read(there.filter(({ isFile }) => isFile)),
            await alone.read(entries.filter(({ isFile }) => isFile)),
          );
        }
      }
    }));
}
