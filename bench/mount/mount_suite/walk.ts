import assert from "node:assert/strict";
import { familyMemory } from "../../support/memory.ts";
import { type PackedTree, TREE_CONTENT } from "../packed_tree.ts";
import { run } from "../../support/run.ts";
import { compare, type Comparison } from "./comparison.ts";
import type { Contender, Serving } from "./contender.ts";
import { outcomes } from "./environment.ts";
import { libfuse } from "./libfuse.ts";
import { recordfs } from "./recordfs.ts";
import type { Measurement, TreeScene } from "./scene.ts";
import { costs } from "./random_reads.ts";

/** Files whose content is compared in the first round. */
const CHECKED = 16;

/** Commands that count the files of a folder: `find` by the type in directory entries, `ls` by the inode's mode. */
const WALKS = {
  "find": 'find "$0" -type f | wc -l',
  "ls -lR": 'LC_ALL=C ls -lR "$0" | grep -c ^-',
} as const;
type Walk = keyof typeof WALKS;

/** Thread counts of the C server: which one is faster has varied. */
const THREADS = [1, 3];

/**
 * Walks all directories of a fresh mount, by find(1) and by ls(1).
 *
 * @param label Label of the tree in titles.
 */
export function walks(label: string): Measurement<TreeScene> {
  const rate = (what: Walk): Comparison => ({
    title: `mount_suite, ${what}: ${label}`,
    of: { what },
    unit: "files/s",
    better: "more",
  });
  const [find, ls] = [rate("find"), rate("ls -lR")];
  const [mounting, memory] = costs(label, "find");

  const walkOnce = async (
    { environment, tree }: TreeScene,
    contender: Contender,
    walk: Walk,
  ) => {
    const mounted = await environment.start(contender);
    const { mountpoint } = mounted;
    if (contender.isCached) await count(walk, mountpoint, tree.files);
    return { mounted, rate: await count(walk, mountpoint, tree.files) };
  };
  const measure = async (
    scene: TreeScene,
    contender: Contender,
    round: number,
  ) => {
    const ls = await walkOnce(scene, contender, "ls -lR");
    await ls.mounted.stop();
    const find = await walkOnce(scene, contender, "find");
    if (round === 0) await compareSome(scene.tree, find.mounted);
    const { pid, readyAfter } = find.mounted;
    const bytes = pid === undefined ? undefined : await familyMemory(pid);
    await find.mounted.stop();
    return {
      find: find.rate,
      ls: ls.rate,
      readyAfter: contender.isCached ? undefined : readyAfter,
      megabytes: bytes === undefined ? undefined : bytes / 1e6,
    };
  };

  return {
    titles: [find, ls, mounting, memory].map(({ title }) => title),
    async run(scene) {
      const { environment, data, peers, cached } = scene;
      const { server } = environment.programs;
      const all = [
        ...await recordfs(data),
        ...libfuse(server, data, THREADS)
          .filter(({ kind }) => kind === "libfuse"), // no content is read
        ...[...peers, cached],
      ];
      const measured = await environment.alternate(
        label,
        all,
        (contender, round) => measure(scene, contender, round),
      );
      const served = all.filter(({ isCached }) => !isCached);
      const of = served.map((one) => measured[all.indexOf(one)]);
      return [
        ...compare(find, outcomes(all, measured, (one) => one.find)),
        ...compare(ls, outcomes(all, measured, (one) => one.ls)),
        ...compare(mounting, outcomes(served, of, (one) => one.readyAfter)),
        ...compare(memory, outcomes(served, of, (one) => one.megabytes)),
      ];
    },
  };
}

async function count(
  walk: Walk,
  directory: string,
  files: number,
): Promise<number> {
  const start = performance.now();
  const output = await run(["sh", "-c", WALKS[walk], directory]);
  const seconds = (performance.now() - start) / 1000;
  const found = Number(new TextDecoder().decode(output));
  if (found === files) return files / seconds;
  throw new Error(`${walk} saw ${found} files of ${files} in ${directory}`);
}

async function compareSome(tree: PackedTree, mounted: Serving): Promise<void> {
  for (let k = 0; k < CHECKED; k++) {
    const path = tree.path(Math.floor(k * (tree.files - 1) / (CHECKED - 1)));
    const content = await Deno.readTextFile(`${mounted.mountpoint}/${path}`);
    assert.equal(content, TREE_CONTENT, `${path} is not what was packed`);
  }
}
