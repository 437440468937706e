import { leadsToNoFile } from "./file_links.ts";
import { SampleRuns } from "./sample_runs.ts";
import type { SampleNodes, SampleRun } from "./tree.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import { whenLoaded } from "./not_loaded.ts";
import { type EntryVisitor, type NodeId, ROOT, type Tree } from "./tree.ts";

/**
 * Returns the samples of a tree, in dataset order. If the tree defines none, they are its files in walk order: depth
 * first, each directory at the position of its name.
 */
export async function samplesOf(tree: Tree): Promise<SampleRuns> {
  const own = await runAsync(whenLoaded(() => {
    const nodes = tree.samples?.();
    return nodes && SampleRuns.of(nodes);
  }));
  if (own !== undefined) return own;
  return SampleRuns.of(await runAsync(whenLoaded(filesOf(tree))));
}

/**
 * Returns a function that walks all files of a tree and returns them as runs of consecutive ids. It can be called again
 * after `NotLoaded` and then resumes.
 */
export function filesOf(tree: Tree): () => SampleNodes {
  const runs: SampleRun[] = [];
  const levels = [{ node: ROOT, cursor: 0 }];
  return () => {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const { node: directory } = level;
      let descend = 0;
      let run: { first: NodeId; stride: 1; count: number } | undefined; // within one directory
      const visit: EntryVisitor = (_name, _start, _end, node, next) => {
        if (leadsToNoFile(tree, node)) {
          level!.cursor = next;
          return true;
        }
        const isDirectory = tree.isDirectory(node);
        level!.cursor = next;
        if (isDirectory) descend = node;
        else if (run !== undefined && node === run.first + run.count) {
          run.count++;
        } else runs.push(run = { first: node, stride: 1, count: 1 });
        return !isDirectory;
      };
      tree.list(directory, level.cursor, visit);
      if (descend === 0) levels.pop();
      else levels.push({ node: descend, cursor: 0 });
    }
    return { areDirectories: false, runs };
  };
}
