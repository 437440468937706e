import { Command, Option } from "commander";
import {
  ConversionError,
  type ConvertOptions,
  type ConvertReport,
} from "../../convert/conversion.ts";
import { convert } from "../../open/convert/convert.ts";
import { targetNames } from "../../open/convert/find_target.ts";
import { WriteError } from "../../base/errors.ts";
import { formatNames } from "../../formats/registry.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { checkGiven, checkSource } from "../input/given.ts";
import { givenSpec } from "../input/given_spec.ts";
import {
  type CommonOptions,
  count,
  formatModuleOption,
  generationOption,
  size,
  subsetOption,
  withOptions,
} from "../input/options.ts";
import { remoteOf } from "../input/remote_flags.ts";
import { RateLimitedLog, report, warn } from "../messages.ts";
import { counted } from "../terminal/amounts.ts";
import { describeError } from "../terminal/json_error.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";
import { flagMessageOf, inFlags, ownFlagsOf } from "../flag_words.ts";

interface ConvertCommandOptions
  extends CommonOptions, Omit<ConvertOptions, "spec" | "subset"> {
  readonly spec?: string;
}

const AFTER_HELP = `
A TARGET that ends in .ffr, .bag or / becomes that; for any other name --to says
what it becomes: ffrecord is a packed folder, bags a dataset, bag a single one.

First it says what changes and what is lost. If anything is lost, nothing is
written unless --lossy is given; that also leaves out what turns out to have no
form in TARGET, such as a frame that is no JPEG, and names it. Members of an archive
that are skipped or cannot be read are such losses; of a --subset, only what its
samples lose is. They are converted in the order of SOURCE, each once.

TARGET must not be there, or be an empty directory. It appears when it is complete.
--force replaces what is there, but not before the new one is complete: a file,
or a directory that holds nothing but a container such as the new one.`;

export function makeCommand(): Command {
  const command = new Command("convert")
    .argument("<source>", "the container, also by its URL, or a folder")
    .argument("<target>", "the new file or directory")
    .addOption(
      new Option("--to <target>", "what to make").choices(
        targetNames().map(({ name }) => name),
      ),
    )
    .addOption(fromOption("--format <name>", "take SOURCE for this format"))
    .addOption(fromOption("--from <name>").hideHelp())
    .addOption(formatModuleOption())
    .addOption(subsetOption())
    .addOption(generationOption("of bags; 3 unless given"))
    .option(
      "--spec <spec>",
      "the types by key, of files and samples: a file, or JSON",
    )
    .option(
      "--shard-length <n>",
      "datapoints in a shard of bags, samples in one of others (files in a tar, of rows or datapoints)",
      count,
    )
    .option(
      "--shard-size <size>",
      "size at which a shard ends, with its last sample, as in 64M; of mds, which no shard exceeds",
      size,
    )
    .option(
      "--parts <n>",
      "so many .ffr files, in the new directory TARGET",
      count,
    )
    .option(
      "--row-group <n>",
      "most rows in a row group of parquet; 10000 unless given",
      count,
    )
    .option("--videos-per-chunk <n>", "of gulp; 100 unless given", count)
    .option("--lossy", "convert although something is lost")
    .option("-f, --force", "replace a TARGET that is there already")
    .option("--json", "say what was planned and written as JSON")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "all", "remote").action(run);
}

function fromOption(flags: string, description?: string): Option {
  return new Option(flags, description)
    .choices([...formatNames(), "folder"]);
}

const OWN_FLAGS = ownFlagsOf("convert");

async function run(
  source: string,
  target: string,
  options: ConvertCommandOptions,
): Promise<void> {
  checkSource(source, "the container");
  checkGiven(target, "what is to be written");
  if (options.subset !== undefined) {
    checkGiven(options.subset, "the index file");
  }
  const { spec: text, json, all, force, format, from, ...others } = options;
  if (format !== undefined && from !== undefined && format !== from) {
    throw new UsageError("--from and --format mean the same: give one of them");
  }
  const spec = text === undefined ? undefined : givenSpec(text);
  let plan: ConvertReport["plan"] | undefined;
  const warnings: string[] = [];
  const shown = new RateLimitedLog(warn, { all });
  try {
    using bar = new Progress("converting", "files");
    const done = await abortable((signal) =>
      convert(source, target, {
        ...others,
        from: format ?? from,
        spec,
        remote: remoteOf(options),
        replace: force,
        signal,
        onPlan(made) {
          plan = made;
          if (!json) tellPlan(made, all);
        },
        onProgress({ unit, done, total }) {
          bar.unit = unit;
          bar.update(done, total);
        },
        onWarning(message, options) {
          const line = inFlags(message, options, OWN_FLAGS);
          if (json) warnings.push(line);
          else shown.add(line);
        },
      })
    );
    shown.end();
    const { path, unit, leftOut, plan: { subset } } = done;
    const chosen = subset === undefined ? "" : ` from ${countText(subset)}`;
    const left = leftOut === 0
      ? ""
      : `, ${leftOut} left out, which warnings name`;
    print(
      json
        ? { ...done, warnings }
        : `${nameWriter()(path)}: ${
          counted(done.count, unit.slice(0, -1))
        }${chosen}${left}\n`,
    );
  } catch (error) {
    if (error instanceof WriteError && error.code === "bad-name") {
      throw new UsageError(flagMessageOf(error, OWN_FLAGS));
    }
    if (!(error instanceof ConversionError)) throw error;
    const message = flagMessageOf(error, OWN_FLAGS);
    if (error.code === "bad-option") throw new UsageError(message);
    const { code, losses } = error;
    if (json) {
      const described = describeError(error);
      print({ refused: code, error: described, losses, plan, warnings });
    }
    report(message);
    throw new Exit(ExitCode.FAILED);
  }
}

function tellPlan(
  { from, to, changed, lost, subset }: ConvertReport["plan"],
  all: true | undefined,
): void {
  const chosen = subset === undefined ? "" : `: ${countText(subset)}`;
  report(`${from} becomes ${to}${chosen}`);
  for (const [title, list] of Object.entries({ changed, lost })) {
    const flood = new RateLimitedLog((line) => report(`  ${title}: ${line}`), {
      all,
    });
    for (const what of list) flood.add(what);
    flood.end();
  }
}

function countText(
  { samples, of }: NonNullable<ConvertReport["plan"]["subset"]>,
) {
  return `${samples} of ${of} samples`;
}
