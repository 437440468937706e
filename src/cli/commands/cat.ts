import { Command } from "commander";
import { RecordfsError } from "../../base/errors.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import {
  chosenPaths,
  GLOB_HELP,
  matching,
  nothingMatches,
} from "../input/chosen_paths.ts";
import { Exit, ExitCode } from "../exit.ts";
import { RateLimitedLog, report } from "../messages.ts";
import { withOutput } from "../terminal/output.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { openSource } from "../input/source.ts";
import { flagMessageOf } from "../flag_words.ts";

export function makeCommand(): Command {
  const command = new Command("cat")
    .argument("<source>", "the container")
    .argument("<path...>", "files in the container, or globs")
    .addHelpText("after", GLOB_HELP);
  return withOptions(
    command,
    "source",
    "all",
    "tree",
    "nested",
    "decoded",
    "verify",
  )
    .action(cat);
}

async function cat(
  source: string,
  paths: readonly string[],
  options: CommonOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  const faults = new RateLimitedLog(report, options);
  let failed = false;
  const guard = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      faults.add(flagMessageOf(error)); // like cat(1), continue with the others
      failed = true;
    }
  };
  for (const chosen of await chosenPaths(fs, paths)) {
    if (typeof chosen === "string") {
      await guard(() => write(fs, chosen));
      continue;
    }
    let files = 0;
    for await (const { path, isFile } of matching(fs, [chosen], false)) {
      if (!isFile) continue; // a glob may match directories as well
      files++;
      await guard(() => write(fs, path));
    }
    if (files > 0) continue;
    await guard(() =>
      Promise.reject(nothingMatches(shownLocation(source), chosen, "file"))
    );
  }
  if (failed) throw new Exit(ExitCode.FAILED);
}

async function write(fs: VirtualFs, path: string): Promise<void> {
  await withOutput(async (out) => {
    for await (const chunk of await fs.stream(path)) out.putBytes(chunk);
  });
}
