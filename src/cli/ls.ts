import { Command } from "commander";
import type { VirtualFs, WalkEntry } from "../vfs/mod.ts";
import { normalise } from "../vfs/paths.ts";
import { describeEntry, formatTime, longLine } from "./entry_line.ts";
import { nameWriter } from "./escape.ts";
import { Exit, ExitCode } from "./exit.ts";
import { report } from "./messages.ts";
import { type Output, withOutput } from "./output.ts";
import {
  openSource,
  type SourceOptions,
  withDecodedOption,
  withSourceOptions,
} from "./source.ts";

interface LsOptions extends SourceOptions {
  readonly long?: true;
  readonly recursive?: true;
  readonly json?: true;
}

/** `recordfs ls` */
export function lsCommand(): Command {
  const command = new Command("ls")
    .description("list a directory of a container")
    .argument("<source>", "the container")
    .argument("[path]", "a directory or file in it", "")
    .option("-l, --long", "with sizes and times")
    .option("-R, --recursive", "with everything below")
    .option("--json", "as a JSON array, one entry a line");
  return withDecodedOption(withSourceOptions(command)).action(ls);
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
    const { entries, prefix } = await entriesOf(fs, path, options.recursive);
    for await (const entry of entries) {
      if (!await write(entry, entry.path.slice(prefix))) damaged++;
      if (out.full) await out.flush();
    }
    if (options.json) out.put("\n]\n");
  });
  if (damaged === 0) return;
  report(
    `${source}: ${damaged} of the entries listed are damaged; ` +
      `\`recordfs check\` says how`,
  );
  throw new Exit(ExitCode.FAILED);
}

/** What to list, and how much of the paths to leave out. */
async function entriesOf(
  fs: VirtualFs,
  path: string,
  recursive = false,
): Promise<{
  entries: AsyncIterable<WalkEntry> | Iterable<WalkEntry>;
  prefix: number;
}> {
  if (await fs.isFile(path)) {
    const { ino } = await fs.stat(path);
    const kind = { isFile: true, isDirectory: false };
    return {
      entries: [{ ...kind, path, name: path, depth: 0, ino }],
      prefix: 0,
    };
  }
  const directory = normalise(path);
  return {
    entries: fs.walk(path, { maxDepth: recursive ? Infinity : 1 }),
    prefix: directory === "" ? 0 : directory.length + 1,
  };
}

/** Writes an entry; `false` means that it is damaged. */
type EntryWriter = (
  entry: WalkEntry,
  name: string,
) => boolean | Promise<boolean>;

async function lineWriter(
  fs: VirtualFs,
  out: Output,
  long: boolean,
): Promise<EntryWriter> {
  const shown = nameWriter();
  if (!long) {
    return (_entry, name) => {
      out.put(`${shown(name)}\n`);
      return true;
    };
  }
  const modified = formatTime((await fs.stat("")).mtime);
  return async (listed, name) => {
    const entry = await describeEntry(fs, listed);
    out.put(longLine(entry, modified, shown(name)));
    return entry.size !== null;
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
