import { Command } from "commander";
import { PathError } from "../../errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { NodeId, VirtualFs } from "../../vfs/mod.ts";
import { type WalkedNode, Walker } from "../../vfs/walk.ts";
import { counted } from "../terminal/counted.ts";
import { nameWriter, type Output, withOutput } from "../terminal/output.ts";
import { SharedStart } from "../terminal/shared_start.ts";
import {
  type CommonOptions,
  countOption,
  withOptions,
} from "../input/options.ts";
import { openSource } from "../input/source.ts";

interface TreeOptions extends CommonOptions {
  readonly level?: number;
}

/** `recordfs tree` */
export function treeCommand(): Command {
  const command = new Command("tree")
    .description("draw a container's directories as a tree")
    .argument("<source>", "the container")
    .argument("[path]", "a directory in it", "")
    .addOption(countOption("-L, --level <depth>", "how deep to go"));
  return withOptions(command, "format", "all", "tree", "decoded").action(tree);
}

async function tree(
  source: string,
  path: string,
  { level = Infinity, ...options }: TreeOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  if (await fs.isFile(path)) throw new PathError("not-directory", path, source);
  await withOutput(async (out) => {
    const drawing = new Drawing(fs, out, level);
    await drawing.draw(path === "" ? source : path, path);
  });
}

/** A directory that is being drawn. */
interface Level {
  readonly walker: Walker;
  /** The entries of it that are still to be drawn. */
  page: WalkedNode[];
  next: number;
}

class Drawing {
  readonly #fs: VirtualFs;
  readonly #out: Output;
  readonly #level: number;
  readonly #shown = nameWriter();
  /** From the directory drawn to the one that it is at; no recursion, however deep. */
  readonly #levels: Level[] = [];
  readonly #branches = new SharedStart();
  #files = 0;
  #directories = 0;

  constructor(fs: VirtualFs, out: Output, level: number) {
    this.#fs = fs;
    this.#out = out;
    this.#level = level;
  }

  async draw(title: string, path: string): Promise<void> {
    const { ino } = await this.#fs.stat(path); // a missing directory is an error before there is a title
    this.#out.put(`${this.#shown(title)}\n`);
    await this.#enter(ino);
    for (let top = this.#levels.at(-1); top; top = this.#levels.at(-1)) {
      const entry = top.page[top.next++];
      if (entry === undefined) this.#levels.pop();
      else await this.#drawOne(top, entry);
    }
    const directories = counted(this.#directories, "directory", "directories");
    this.#out.put(`\n${directories}, ${counted(this.#files, "file")}\n`);
  }

  async #enter(node: NodeId): Promise<void> {
    const walker = new Walker(this.#fs.tree, node, "", 1);
    const page = await runAsync(walker.nextPage());
    this.#levels.push({ walker, page, next: 0 });
  }

  /** Draws an entry; the branch depends on whether another one follows. */
  async #drawOne(level: Level, entry: WalkedNode): Promise<void> {
    if (level.next === level.page.length) {
      level.page = await runAsync(level.walker.nextPage());
      level.next = 0;
    }
    const last = level.page.length === 0;
    const name = this.#shown(entry.name);
    const depth = this.#levels.length - 1;
    this.#branches.put(this.#out, depth);
    this.#out.put(`${last ? "└── " : "├── "}${name}\n`);
    if (!entry.isDirectory) this.#files++;
    else {
      this.#directories++;
      if (this.#levels.length < this.#level) {
        this.#branches.set(depth, last ? "    " : "│   ");
        await this.#enter(entry.node);
      }
    }
  }
}
