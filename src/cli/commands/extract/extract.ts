import { Command, Option } from "commander";
import { GLOB_HELP, isWithin } from "../../input/chosen_paths.ts";
import { counted, rateAfter } from "../../terminal/amounts.ts";
import { Exit, ExitCode, UsageError } from "../../exit.ts";
import {
  countChosen,
  unshownSamples,
} from "../../../data/trees/chosen_samples.ts";
import { ExtractTarget } from "../../../io/unpack/extract_target.ts";
import type { Durability } from "../../../io/unpack/unplaced_file.ts";
import { checkGiven } from "../../input/given.ts";
import {
  type CommonOptions,
  directoryArgument,
  subsetOption,
  withOptions,
} from "../../input/options.ts";
import { shownLocation } from "../../../io/remote/remote_location.ts";
import type { SkippedMember } from "../../../tree/format.ts";
import { normalise } from "../../../tree/vfs/paths.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { keepNoMore } from "../../../tree/remote_parts.ts";
import { openSource } from "../../input/source.ts";
import { RateLimitedLog, report, warn } from "../../messages.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import { abortable } from "../../terminal/signals.ts";
import { Extraction, type Failure } from "./extraction.ts";

interface ExtractOptions extends CommonOptions {
  readonly overwrite?: true;
  readonly partial?: true;
  readonly sync: Durability;
}

const AFTER_HELP = `
--sync says when files are flushed to the disk, so that they survive a power
failure: end flushes all of them before the command succeeds; files also flushes
each file before it gets its name; none leaves that to the system, as cp and tar do.

Members that are skipped (a path with .. in it, a file in place of a directory)
or cannot be read (encrypted, damaged) are named. The rest is written, and the
exit code is 1, or 0 with --partial.`;

const NOT_SYNCED =
  "the files may not be on the disk yet: flushing them needs --allow-ffi, on Linux with the GNU C " +
  "library; --sync none does not flush";

export function makeCommand(): Command {
  const command = new Command("extract")
    .argument("<source>", "the container")
    .addArgument(
      directoryArgument("<target>", "the directory; created if missing"),
    )
    .argument("[path...]", "only these files, directories or globs")
    .option("-f, --force", "replace existing files")
    .option("--overwrite", "the same as --force")
    .option(
      "--partial",
      "succeed even if some members are skipped or cannot be read",
    )
    .addOption(subsetOption())
    .option("--json", "print what was extracted, and what was not, as JSON")
    .addOption(
      new Option("--sync <when>", "when to flush files to the disk")
        .choices(["end", "files", "none"] satisfies Durability[])
        .default("end"),
    )
    .addHelpText("after", GLOB_HELP + AFTER_HELP);
  return withOptions(
    command,
    "source",
    "all",
    "tree",
    "nested",
    "decoded",
    "verify",
  )
    .action(extract);
}

async function extract(
  source: string,
  directory: string,
  paths: readonly string[],
  options: ExtractOptions,
): Promise<void> {
  checkGiven(directory, "the directory to extract to");
  if (!directory.isWellFormed()) {
    throw new UsageError(
      "the name of the directory to extract to is not UTF-8",
    );
  }
  using fs = await openSource(source, options);
  await keepNoMore(fs.tree); // do not cache what is extracted anyway
  const replace = options.force === true || options.overwrite === true;
  const { sync } = options;
  const { mtime } = await fs.stat("");
  const start = performance.now();
  const failed: Failure[] = [];
  const faults = new RateLimitedLog(report, options);
  // Opening the container has already reported them.
  const told = new Set(fs.info.unreadable?.map(({ message }) => message));
  const onFailure: (failure: Failure) => void = options.json
    ? (failure) => void failed.push(failure)
    : ({ message }) => void (told.has(message) || faults.add(message));
  const unshown = paths.length === 0 ? unshownSamples(fs) : [];
  for (const sample of unshown) onFailure(unshownFailure(fs, sample));
  const counts = await abortable(async (signal) => {
    using target = new ExtractTarget(directory, { replace, mtime, sync });
    await using extraction = new Extraction(fs, target, onFailure, signal);
    await extraction.run(paths);
    if (!await target.complete()) warn(NOT_SYNCED);
    return extraction.counts;
  });
  faults.end();
  const seconds = (performance.now() - start) / 1000;
  const { links, failures: failedFiles, damaged, ...others } = counts;
  const failures = failedFiles + unshown.length;
  const skipped = skippedBelow(fs, paths);
  const { files, directories, bytes } = others;
  const facts = links > 0 ? { ...others, links } : others;
  const { subset } = fs;
  print(
    options.json
      ? {
        path: directory,
        ...facts,
        ...subset === undefined
          ? {}
          : { subset: { samples: subset.indices.length, of: subset.of } },
        seconds,
        failed,
        ...skipped.count > 0 ? { skipped: skipped.listed } : {},
      }
      : `${nameWriter()(directory)}: ` +
        (subset === undefined ? "" : `${countChosen(subset)}, `) +
        `${counted(files, "file")}, ` +
        `${counted(directories, "directory", "directories")}, ` +
        (links > 0 ? `${counted(links, "link")}, ` : "") +
        `${counted(bytes, "byte")}${rateAfter(bytes, seconds)}\n`,
  );
  // Damaged parts of an archive in which no member can be identified: they may contain requested members, but no
  // numbered sample.
  const lost = subset === undefined
    ? (fs.info.unreadable ?? []).filter(({ name }) => name === "")
    : [];
  const missing = failures + skipped.count + lost.length;
  if (missing === 0) return;
  const items = missing === 1
    ? "1 file or directory was"
    : `${missing} files and directories were`;
  const isForgiven = failedFiles === damaged;
  const hint = isForgiven && !options.partial
    ? "; with --partial, that is a success"
    : "";
  report(`${items} not extracted from ${shownLocation(source)}${hint}`);
  if (isForgiven && options.partial) return;
  throw new Exit(ExitCode.FAILED);
}

function unshownFailure({ location }: VirtualFs, sample: number): Failure {
  const message =
    `Cannot extract sample ${sample} of ${location}: it was damaged when the container was opened, and is skipped`;
  return { path: "", code: "bad-structure", message };
}

/**
 * Members skipped at opening that lie within the requested paths, or all members if none are given; none of a subset,
 * since they are no samples.
 */
function skippedBelow(
  { info: { facts }, skipped, subset }: VirtualFs,
  paths: readonly string[],
): { count: number; listed: readonly SkippedMember[] } {
  if (subset !== undefined) return { count: 0, listed: [] };
  if (paths.length === 0) {
    return { count: facts?.["skipped"] ?? 0, listed: skipped };
  }
  const wanted = new Set(paths.map(normalise));
  const listed = skipped.filter(({ name }) =>
    wanted.has("") || isWithin(normalise(name), wanted)
  );
  return { count: listed.length, listed };
}
