import { Command, InvalidArgumentError } from "commander";
import { PathError } from "../errors.ts";
import type { VirtualFs, WalkEntry } from "../vfs/mod.ts";
import { counted } from "./counted.ts";
import { nameWriter } from "./escape.ts";
import { type Output, withOutput } from "./output.ts";
import {
  openSource,
  type SourceOptions,
  withDecodedOption,
  withSourceOptions,
} from "./source.ts";

interface TreeOptions extends SourceOptions {
  readonly level?: number;
}

/** `recordfs tree` */
export function treeCommand(): Command {
  const command = new Command("tree")
    .description("draw a container's directories as a tree")
    .argument("<source>", "the container")
    .argument("[path]", "a directory in it", "")
    .option("-L, --level <depth>", "how deep to go", parseLevel);
  return withDecodedOption(withSourceOptions(command)).action(tree);
}

function parseLevel(text: string): number {
  if (/^[1-9][0-9]*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1.");
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

class Drawing {
  readonly #fs: VirtualFs;
  readonly #out: Output;
  readonly #level: number;
  readonly #shown = nameWriter();
  #files = 0;
  #directories = 0;

  constructor(fs: VirtualFs, out: Output, level: number) {
    this.#fs = fs;
    this.#out = out;
    this.#level = level;
  }

  async draw(title: string, path: string): Promise<void> {
    const entries = this.#fs.walk(path, { maxDepth: 1 });
    let next = await entries.next(); // a missing directory is an error before there is a title
    this.#out.put(`${this.#shown(title)}\n`);
    for (; !next.done;) next = await this.#drawOne(entries, next.value, "", 1);
    const directories = counted(this.#directories, "directory", "directories");
    this.#out.put(`\n${directories}, ${counted(this.#files, "file")}\n`);
  }

  /** Draws an entry with all below it; the branch depends on whether another one follows. */
  async #drawOne(
    entries: AsyncGenerator<WalkEntry, void>,
    entry: WalkEntry,
    indent: string,
    depth: number,
  ): Promise<IteratorResult<WalkEntry, void>> {
    const next = await entries.next();
    const last = next.done === true;
    const name = this.#shown(entry.name);
    this.#out.put(`${indent}${last ? "└── " : "├── "}${name}\n`);
    if (this.#out.full) await this.#out.flush();
    if (!entry.isDirectory) this.#files++;
    else {
      this.#directories++;
      if (depth < this.#level) {
        const below = indent + (last ? "    " : "│   ");
        await this.#drawBelow(entry.path, below, depth + 1);
      }
    }
    return next;
  }

  async #drawBelow(
    path: string,
    indent: string,
    depth: number,
  ): Promise<void> {
    const entries = this.#fs.walk(path, { maxDepth: 1 });
    let next = await entries.next();
    while (!next.done) {
      next = await this.#drawOne(entries, next.value, indent, depth);
    }
  }
}
