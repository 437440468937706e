import { Command } from "commander";
import { PathError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { type WalkedNode, Walker } from "../../tree/vfs/walk.ts";
import { counted } from "../terminal/amounts.ts";
import { nameWriter, type Output, withOutput } from "../terminal/output.ts";
import { SharedStart } from "../terminal/shared_start.ts";
import { type CommonOptions, count, withOptions } from "../input/options.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { openSource } from "../input/source.ts";

interface TreeOptions extends CommonOptions {
  readonly level?: number;
}

export function makeCommand(): Command {
  const command = new Command("tree")
    .argument("<source>", "the container")
    .argument("[path]", "a directory in the container", "")
    .option("-L, --level <depth>", "maximum depth", count);
  return withOptions(command, "source", "all", "tree", "nested", "decoded")
    .action(tree);
}

async function tree(
  source: string,
  path: string,
  { level = Infinity, ...options }: TreeOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  if (await fs.isFile(path)) {
    throw new PathError("not-directory", path, shownLocation(source));
  }
  const { ino } = await fs.stat(path); // a missing directory must fail before the title is printed
  await withOutput(async (out) => {
    out.put(`${nameWriter()(path === "" ? shownLocation(source) : path)}\n`);
    const { files, directories } = await draw(fs, ino, level, out);
    const folders = counted(directories, "directory", "directories");
    out.put(`\n${folders}, ${counted(files, "file")}\n`);
  });
}

interface Level {
  readonly walker: Walker;
  /** Page of its entries. */
  page: WalkedNode[];
  next: number;
}

/** Draws the content of a directory, and counts it. */
async function draw(
  fs: VirtualFs,
  directory: NodeId,
  deepest: number,
  out: Output,
): Promise<{ readonly files: number; readonly directories: number }> {
  const shown = nameWriter();
  const branches = new SharedStart();
  const levels: Level[] = []; // explicit stack: no recursion, however deep
  let files = 0;
  let directories = 0;
  const enter = async (node: NodeId) => {
    const walker = new Walker(fs.tree, node, "", 1);
    const page = await runAsync(walker.nextPage());
    levels.push({ walker, page, next: 0 });
  };
  await enter(directory);
  for (let top = levels.at(-1); top; top = levels.at(-1)) {
    const entry = top.page[top.next++];
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    if (top.next === top.page.length) {
      top.page = await runAsync(top.walker.nextPage());
      top.next = 0;
    }
    const last = top.page.length === 0;
    const depth = levels.length - 1;
    branches.put(out, depth);
    out.put(`${last ? "└── " : "├── "}${shown(entry.name)}\n`);
    if (!entry.isDirectory) {
      files++;
      continue;
    }
    directories++;
    if (levels.length >= deepest) continue;
    branches.set(depth, last ? "    " : "│   ");
    await enter(entry.node);
  }
  return { files, directories };
}
