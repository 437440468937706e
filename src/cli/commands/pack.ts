import { Command, InvalidArgumentError } from "commander";
import { join } from "node:path";
import {
  PackError,
  packFolder,
  type PackProblem,
  type PackReport,
} from "../../formats/ffrecord/mod.ts";
import { isInParts } from "../../formats/ffrecord/write/record_paths.ts";
import { isLeftOut } from "../../formats/ffrecord/pack/pack_problem.ts";
import { PathFilter } from "../../vfs/path_filter.ts";
import { counted } from "../terminal/counted.ts";
import { nameWriter } from "../terminal/escape.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { Flood, type FloodOptions, withAllOption } from "../terminal/flood.ts";
import { checkGiven } from "../input/given.ts";
import { compileGlob } from "../input/glob.ts";
import { report, warn } from "../messages.ts";
import {
  checkNewFile,
  type NewContainerOptions,
  withNewContainerOptions,
} from "../input/new_container.ts";
import { withOutput } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { rateAfter } from "../terminal/rate.ts";
import { collect } from "../input/repeatable.ts";
import { abortable } from "../terminal/signals.ts";

interface PackOptions extends NewContainerOptions, FloodOptions {
  readonly parts?: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly skipProblems?: true;
}

const AFTER_HELP = `
GLOB knows *, ?, [a-z], [!a-z], {a,b} and **, which stands for any directories.
Without a slash it is compared with names at any depth; with one, with the path
from DIR (so /*.txt is those in DIR itself); a / at its end means directories
only. Each stands for all that is in a directory it matches. --exclude wins.

Symbolic links are followed. What can't be packed (a link to nowhere, a socket,
what may not be read) ends the command before anything is written, unless
--skip-problems leaves it out: each is reported, and the exit code is 1.
OUT appears when it is complete; what fails leaves no file behind.`;

/** `recordfs pack` */
export function packCommand(): Command {
  const command = new Command("pack")
    .description("pack a directory into a new .ffr file")
    .argument("<dir>", "the directory")
    .argument("<out>", "the new file; its name ends in .ffr")
    .option(
      "--parts <n>",
      "N files instead, in the new directory OUT",
      parts,
    )
    .option("--include <glob>", "only files that match; repeatable", collect)
    .option("--exclude <glob>", "nothing that matches; repeatable", collect)
    .option("--skip-problems", "leave out what can't be packed")
    .addHelpText("after", AFTER_HELP);
  return withAllOption(withNewContainerOptions(command)).action(pack);
}

async function pack(
  dir: string,
  out: string,
  options: PackOptions,
): Promise<void> {
  checkGiven(dir, "the directory to pack");
  if (isInParts(out, options.parts)) checkNewDirectory(out, options);
  else checkNewFile(out, options);
  const { include = [], exclude = [] } = options;
  const filter = new PathFilter(include, exclude, compileGlob);
  const start = performance.now();
  const packed = await abortable((signal) =>
    packWithProgress(dir, out, options, filter, signal)
  );
  const seconds = (performance.now() - start) / 1000;
  await withOutput((output) => {
    output.put(
      options.json
        ? `${JSON.stringify({ ...packed, seconds })}\n`
        : summary(out, packed, seconds),
    );
    return Promise.resolve();
  });
  for (const skipped of packed.skipped.filter(isLeftOut)) {
    warn(describe(dir, skipped));
  }
  const problems = packed.skipped.filter((skipped) => !isLeftOut(skipped));
  if (problems.length === 0) return;
  const were = problems.length === 1 ? "was" : "were";
  report(`${entries(problems)} of ${dir} ${were} not packed`);
  throw new Exit(ExitCode.FAILED);
}

/** Packs, and reports what can't be packed. */
async function packWithProgress(
  dir: string,
  out: string,
  options: PackOptions,
  filter: PathFilter,
  signal: AbortSignal,
): Promise<PackReport> {
  let listed = 0;
  let packing = false;
  let bar = new Progress("listing", "files", undefined);
  const problems = new Flood(report, options);
  const skip = (problem: PackProblem) => {
    bar.makeWay();
    problems.add(describe(dir, problem));
  };
  try {
    return await packFolder(dir, out, {
      parts: options.parts,
      filter(entry) {
        const accepted = filter.accepts(entry);
        if (accepted && !entry.isDirectory) bar.update(++listed);
        return accepted;
      },
      emptyDirectories: filter.keepsAll,
      onProblem: options.skipProblems ? skip : undefined,
      onProgress: ({ bytes, totalBytes }) => {
        if (!packing) {
          bar[Symbol.dispose]();
          bar = new Progress("packing", "bytes", totalBytes);
          packing = true;
        }
        bar.update(bytes);
      },
      signal,
    });
  } catch (error) {
    if (!(error instanceof PackError) || error.problems.length === 0) {
      throw error;
    }
    bar.makeWay();
    for (const problem of error.problems) problems.add(describe(dir, problem));
    problems.end();
    report(
      `${entries(error.problems)} of ${dir} can't be packed, and nothing was ` +
        "written; --skip-problems leaves such out",
    );
    throw new Exit(ExitCode.FAILED);
  } finally {
    bar[Symbol.dispose]();
    problems.end();
  }
}

function describe(dir: string, { path, reason }: PackProblem): string {
  return `${join(dir, path)}: ${reason}`;
}

function entries({ length }: readonly PackProblem[]): string {
  return counted(length, "entry", "entries");
}

function checkNewDirectory(out: string, options: PackOptions): void {
  checkGiven(out, "the new directory");
  if (options.force !== true) return;
  throw new UsageError(
    "--force replaces a file, not a directory of several: remove that first",
  );
}

function summary(
  out: string,
  { files, directories, bytes, paths }: PackReport,
  seconds: number,
): string {
  const shown = nameWriter();
  const parts = paths.length === 1 ? "" : `, ${paths.length} parts`;
  return `${shown(out)}: ${counted(files, "file")}, ` +
    `${counted(directories, "directory", "directories")}, ` +
    `${counted(bytes, "byte")}${parts}${rateAfter(bytes, seconds)}\n`;
}

function parts(text: string): number {
  const number = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(number) && number >= 1) {
    return number;
  }
  throw new InvalidArgumentError("It is a number of files, from 1 on.");
}
