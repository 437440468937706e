import { Command } from "commander";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../tree/vfs/walk.ts";
import {
  chosenPaths,
  GLOB_HELP,
  matching,
  nothingMatches,
} from "../input/chosen_paths.ts";
import { formatTime } from "../terminal/amounts.ts";
import { Exit, ExitCode } from "../exit.ts";
import { flagMessageOf } from "../flag_words.ts";
import { RateLimitedLog, report } from "../messages.ts";
import { describeError } from "../terminal/json_error.ts";
import { nameWriter, withOutput } from "../terminal/output.ts";
import { SharedStart } from "../terminal/shared_start.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { openSource } from "../input/source.ts";

interface LsOptions extends CommonOptions {
  readonly long?: true;
  readonly recursive?: true;
}

export function makeCommand(): Command {
  const command = new Command("ls")
    .argument("<source>", "the container")
    .argument("[path]", "a directory or file in the container, or a glob", "")
    .option("-l, --long", "show sizes and times")
    .option("-R, --recursive", "list subdirectories too")
    .option(
      "--json",
      "print a JSON array, one entry per line; with --long, with times",
    )
    .addHelpText("after", GLOB_HELP);
  return withOptions(command, "source", "all", "tree", "nested", "decoded")
    .action(ls);
}

async function ls(
  source: string,
  path: string,
  options: LsOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  const { json, long, recursive = false } = options;
  const shown = nameWriter();
  const times = new Times((await fs.stat("")).mtime);
  const directories = new SharedStart();
  const faults = new RateLimitedLog(report, options);
  let damaged = 0;
  let before = "\n";
  await withOutput(async (out) => {
    const [chosen] = await chosenPaths(fs, [path]);
    const entries = typeof chosen === "object"
      ? pathsOf(matching(fs, [chosen], recursive))
      : await entriesOf(fs, path, recursive, (error) => {
        faults.add(flagMessageOf(error));
        damaged++;
      });
    if (json) out.put("[");
    const list = async () => {
      for await (const entry of entries) await put(entry);
      if (typeof chosen === "object" && !chosen.found) {
        throw nothingMatches(shownLocation(source), chosen);
      }
    };
    const put = async (entry: WalkEntry) => {
      const { name, depth, isDirectory } = entry;
      // Plain names need no asynchronous lookup.
      const listed = json || long
        ? await describeEntry(fs, entry, times, long)
        : undefined;
      if (listed?.size === null) damaged++;
      if (json) {
        out.put(before + JSON.stringify(listed));
        before = ",\n";
        return;
      }
      if (listed !== undefined) out.put(longStart(listed, times.last));
      directories.put(out, depth - 1);
      out.put(`${shown(name)}\n`);
      if (isDirectory) directories.set(depth - 1, `${shown(name)}/`);
    };
    try {
      await list();
    } catch (error) {
      if (json && error instanceof RecordfsError) {
        out.put(before + JSON.stringify({ error: describeError(error) }));
      }
      throw error;
    } finally {
      if (json) out.put("\n]\n");
    }
  });
  faults.end();
  if (damaged === 0) return;
  report(
    `${shownLocation(source)}: ${damaged} of the listed entries are damaged. ` +
      `Run \`recordfs check\` for details`,
  );
  throw new Exit(ExitCode.FAILED);
}

async function entriesOf(
  fs: VirtualFs,
  path: string,
  recursive: boolean,
  onDamage: (error: FormatError) => void,
): Promise<AsyncIterable<WalkEntry> | Iterable<WalkEntry>> {
  if (await fs.isFile(path)) {
    const { ino } = await fs.stat(path);
    const kind = { isFile: true, isDirectory: false };
    return [{ ...kind, path, name: path, depth: 1, ino }];
  }
  return fs.walk(path, { maxDepth: recursive ? Infinity : 1, onDamage });
}

async function* pathsOf(
  entries: AsyncIterable<WalkEntry>,
): AsyncGenerator<WalkEntry, void, undefined> {
  for await (const entry of entries) {
    yield { ...entry, name: entry.path, depth: 1 };
  }
}

/** Formats modification times, with a cache, because most containers have one time for all entries. */
class Times {
  #time: number;
  /** Text of the last formatted time. */
  last: string;

  constructor(mtime: Date) {
    this.#time = mtime.getTime();
    this.last = formatTime(mtime);
  }

  tell(mtime: Date): void {
    if (mtime.getTime() === this.#time) return;
    this.#time = mtime.getTime();
    this.last = formatTime(mtime);
  }
}

interface ListedEntry {
  readonly path: string;
  readonly type: "file" | "directory";
  /** In bytes; `null` if the container is damaged there. */
  readonly size: number | null;
  /** With `--long`: modification time such as `2026-01-31T12:00:00.000Z`; `null` if damaged. */
  readonly mtime?: string | null;
}

/** Describes an entry. Damage results in a size of `null`, so that one bad sample does not hide the rest. */
async function describeEntry(
  fs: VirtualFs,
  entry: WalkEntry,
  times: Times,
  long = false,
): Promise<ListedEntry> {
  const { path, isDirectory } = entry;
  try {
    const { size, mtime } = await fs.stat(entry);
    times.tell(mtime);
    const type = isDirectory ? "directory" : "file";
    return { path, type, size, ...long && { mtime: mtime.toISOString() } };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { path, type: "file", size: null, ...long && { mtime: null } };
  }
}

/** Formats the columns before a name in `ls -l`: permissions, size, modification time. */
function longStart(
  { type, size }: ListedEntry,
  modified: string,
): string {
  const mode = type === "directory" ? "drwxr-xr-x" : "-rw-r--r--";
  const shown = size === null ? "?" : String(size);
  return `${mode} ${shown.padStart(12)} ${modified} `;
}
