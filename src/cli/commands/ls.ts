import { Command } from "commander";
import type { VirtualFs, WalkEntry } from "../../vfs/mod.ts";
import {
  chosenPaths,
  GLOB_HELP,
  matching,
  nothingMatches,
} from "../input/chosen_paths.ts";
import {
  describeEntry,
  formatTime,
  longStart,
} from "../terminal/entry_line.ts";
import { Exit, ExitCode } from "../exit.ts";
import { report } from "../messages.ts";
import { nameWriter, type Output, withOutput } from "../terminal/output.ts";
import { SharedStart } from "../terminal/shared_start.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { openSource } from "../input/source.ts";

interface LsOptions extends CommonOptions {
  readonly long?: true;
  readonly recursive?: true;
}

/** `recordfs ls` */
export function lsCommand(): Command {
  const command = new Command("ls")
    .description("list a directory of a container")
    .argument("<source>", "the container")
    .argument("[path]", "a directory or file in it, or a glob", "")
    .option("-l, --long", "with sizes and times")
    .option("-R, --recursive", "with everything below")
    .option("--json", "as a JSON array, one entry a line")
    .addHelpText("after", GLOB_HELP);
  return withOptions(command, "format", "all", "tree", "decoded").action(ls);
}

async function ls(
  source: string,
  path: string,
  options: LsOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  let damaged = 0;
  await withOutput(async (out) => {
    const write = options.json
      ? jsonWriter(fs, out)
      : await lineWriter(fs, out, options.long === true);
    const [chosen] = await chosenPaths(fs, [path]);
    const entries = typeof chosen === "object"
      ? pathsOf(matching(fs, [chosen], options.recursive === true))
      : await entriesOf(fs, path, options.recursive);
    for await (const entry of entries) {
      if (!await write(entry)) damaged++;
    }
    if (options.json) out.put("\n]\n");
    if (typeof chosen === "object" && !chosen.found) {
      throw nothingMatches(source, chosen);
    }
  });
  if (damaged === 0) return;
  report(
    `${source}: ${damaged} of the entries listed are damaged; ` +
      `\`recordfs check\` says how`,
  );
  throw new Exit(ExitCode.FAILED);
}

/** What to list. */
async function entriesOf(
  fs: VirtualFs,
  path: string,
  recursive = false,
): Promise<AsyncIterable<WalkEntry> | Iterable<WalkEntry>> {
  if (await fs.isFile(path)) {
    const { ino } = await fs.stat(path);
    const kind = { isFile: true, isDirectory: false };
    return [{ ...kind, path, name: path, depth: 1, ino }];
  }
  return fs.walk(path, { maxDepth: recursive ? Infinity : 1 });
}

/** Entries that stand for themselves, wherever they are: their paths are their names. */
async function* pathsOf(
  entries: AsyncIterable<WalkEntry>,
): AsyncGenerator<WalkEntry, void, undefined> {
  for await (const entry of entries) {
    yield { ...entry, name: entry.path, depth: 1 };
  }
}

/** Writes an entry; `false` means that it is damaged. */
type EntryWriter = (entry: WalkEntry) => boolean | Promise<boolean>;

async function lineWriter(
  fs: VirtualFs,
  out: Output,
  long: boolean,
): Promise<EntryWriter> {
  const shown = nameWriter();
  const directories = new SharedStart();
  const putName = ({ name, depth, isDirectory }: WalkEntry) => {
    directories.put(out, depth - 1);
    out.put(`${shown(name)}\n`);
    if (isDirectory) directories.set(depth - 1, `${shown(name)}/`);
  };
  if (!long) {
    return (entry) => {
      putName(entry);
      return true;
    };
  }
  const modified = formatTime((await fs.stat("")).mtime);
  return async (entry) => {
    const listed = await describeEntry(fs, entry);
    out.put(longStart(listed, modified));
    putName(entry);
    return listed.size !== null;
  };
}

function jsonWriter(fs: VirtualFs, out: Output): EntryWriter {
  let before = "\n";
  out.put("[");
  return async (listed) => {
    const entry = await describeEntry(fs, listed);
    out.put(before + JSON.stringify(entry));
    before = ",\n";
    return entry.size !== null;
  };
}
