import { Command, Option } from "commander";
import { join } from "node:path";
import { PackError, packFolder } from "../../formats/ffrecord/mod.ts";
import type { PackReport } from "../../formats/ffrecord/pack/pack_folder.ts";
import { isInParts } from "../../formats/ffrecord/write/record_paths.ts";
import {
  isLeftOut,
  type PackProblem,
} from "../../formats/ffrecord/pack/pack_problem.ts";
import { PathFilter } from "../../tree/vfs/path_filter.ts";
import { RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { findFormat } from "../../open/find_format.ts";
import { counted, rateAfter } from "../terminal/amounts.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { checkGiven } from "../input/given.ts";
import { compileGlob } from "../input/glob.ts";
import { RateLimitedLog, report, warn } from "../messages.ts";
import { checkNewFile } from "../input/new_container.ts";
import {
  collect,
  type CommonOptions,
  count,
  directoryArgument,
  withOptions,
} from "../input/options.ts";
import { describeError } from "../terminal/json_error.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";

interface PackOptions extends CommonOptions {
  readonly parts?: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly skipProblems?: true;
  readonly sync: "end" | "none";
}

const AFTER_HELP = `
GLOB may contain *, ?, [a-z], [!a-z], {a,b}, and ** for any number of directories.
Without a slash it matches names at any depth; with one, it matches the path from
SOURCE (so /*.txt matches only in SOURCE itself); a / at its end matches only
directories. A directory that matches includes everything in it. --exclude takes
precedence.

Symbolic links are followed. If an entry cannot be packed (a broken link, a
socket, an unreadable file), nothing is written, unless --skip-problems is given:
then each such entry is reported and skipped, and the exit code is 1.
TARGET appears when it is complete; an error leaves no file behind. By then it is
on the disk, and survives a power failure; with --sync none the system writes it
later, and a power failure may leave a part of it.`;

export function makeCommand(): Command {
  const command = new Command("pack")
    .addArgument(directoryArgument("<source>", "the directory"))
    .argument("<target>", "the new file; its name ends in .ffr")
    .option(
      "--parts <n>",
      "write N files, in the new directory TARGET",
      count,
    )
    .option("--include <glob>", "pack only what matches; repeatable", collect)
    .option(
      "--exclude <glob>",
      "pack nothing that matches; repeatable",
      collect,
    )
    .option("--skip-problems", "skip entries that cannot be packed")
    .addOption(
      new Option("--sync <when>", "when to flush the file to the disk")
        .choices(["end", "none"]).default("end"),
    )
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "written", "all").action(pack);
}

async function pack(
  dir: string,
  out: string,
  options: PackOptions,
): Promise<void> {
  checkGiven(dir, "the directory to pack");
  if (isInParts(out, options.parts)) {
    checkGiven(out, "the new directory");
    if (options.force === true) {
      throw new UsageError(
        "--force replaces a file, not a directory: remove the directory first",
      );
    }
  } else checkNewFile(out, options);
  await refuseFile(dir);
  const { include = [], exclude = [] } = options;
  const filter = new PathFilter(include, exclude, compileGlob);
  const problems = new RateLimitedLog(report, options);
  const tell = (problem: PackProblem) => problems.add(describe(dir, problem));
  const start = performance.now();
  let packed: PackReport;
  try {
    packed = await abortable(async (signal) => {
      using listing = new Progress("listing", "files");
      using packing = new Progress("packing", "bytes");
      let listed = 0;
      return await packFolder(dir, out, {
        parts: options.parts,
        filter(entry) {
          const accepted = filter.accepts(entry);
          if (accepted && !entry.isDirectory) listing.update(++listed);
          return accepted;
        },
        emptyDirectories: filter.keepsAll,
        onProblem: options.skipProblems ? tell : undefined,
        onProgress: ({ bytes, totalBytes }) => {
          listing[Symbol.dispose]();
          packing.update(bytes, totalBytes);
        },
        sync: options.sync === "end",
        signal,
      });
    });
  } catch (error) {
    if (!(error instanceof PackError) || error.problems.length === 0) {
      throw error;
    }
    const why =
      `Cannot pack ${entries(error.problems)} of ${dir}; nothing was ` +
      "written. Skip them with --skip-problems";
    if (options.json) {
      const { problems } = error;
      print({ error: { ...describeError(error), message: why, problems } });
    }
    error.problems.forEach(tell);
    problems.end();
    report(why);
    throw new Exit(ExitCode.FAILED);
  }
  problems.end();
  const seconds = (performance.now() - start) / 1000;
  const { files, directories, bytes, paths } = packed;
  const parts = paths.length === 1 ? "" : `, ${paths.length} parts`;
  print(
    options.json
      ? { ...packed, seconds }
      : `${nameWriter()(out)}: ${counted(files, "file")}, ` +
        `${counted(directories, "directory", "directories")}, ` +
        `${counted(bytes, "byte")}${parts}${rateAfter(bytes, seconds)}\n`,
  );
  for (const skipped of packed.skipped.filter(isLeftOut)) {
    warn(describe(dir, skipped));
  }
  const others = packed.skipped.filter((skipped) => !isLeftOut(skipped));
  if (others.length === 0) return;
  const were = others.length === 1 ? "was" : "were";
  report(`${entries(others)} of ${dir} ${were} not packed`);
  throw new Exit(ExitCode.FAILED);
}

/** @throws {RecordfsError} If the source is a file; the message names the command to use instead. */
async function refuseFile(path: string): Promise<void> {
  const isFile = await Deno.stat(path).then((stat) => stat.isFile, () => false);
  if (!isFile) return;
  const named = await runAsync(findFormat(path, {})).catch(() => undefined);
  const what = named === undefined
    ? "a file, not a directory. Make samples of files with `recordfs write`"
    : `a container of the format ${named.name}, not a directory. Convert it with \`recordfs convert\``;
  throw new RecordfsError(
    "not-a-directory",
    `Cannot pack ${path}: it is ${what}`,
    {
      path,
    },
  );
}

function describe(dir: string, { path, reason }: PackProblem): string {
  return `${join(dir, path)}: ${reason}`;
}

function entries({ length }: readonly PackProblem[]): string {
  return counted(length, "entry", "entries");
}
