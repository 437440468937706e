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
  maxRatioOption,
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
The suffix of TARGET gives its format, such as .ffr, .bag or / (a folder); for
other names, --to gives it: ffrecord makes a packed folder, bags a dataset, bag a
single bag.

The command first prints what changes and what is lost. If anything is lost, it
writes nothing unless --lossy is given. --lossy also skips, and names, what turns
out to have no form in TARGET, such as a frame that is not a JPEG. Archive
members that are skipped or cannot be read are losses; with --subset, only the
losses of its samples count. The samples of --subset are converted in the order
of SOURCE, each once.

TARGET must not exist, or must be an empty directory. It appears when it is
complete. --force replaces an existing TARGET once the new one is complete: a
file, or a directory that holds only a container of the same kind.`;

export function makeCommand(): Command {
  const command = new Command("convert")
    .argument("<source>", "the container (a path or URL), or a folder")
    .argument("<target>", "the new file or directory")
    .addOption(
      new Option("--to <target>", "target format").choices(
        targetNames().map(({ name }) => name),
      ),
    )
    .addOption(fromOption("--format <name>", "open SOURCE as this format"))
    .addOption(fromOption("--from <name>").hideHelp())
    .addOption(formatModuleOption())
    .addOption(maxRatioOption())
    .addOption(subsetOption())
    .addOption(generationOption("for bags (default: 3)"))
    .option(
      "--spec <spec>",
      "the type of each key, for files and samples: a file, or JSON",
    )
    .option(
      "--shard-length <n>",
      "datapoints per shard of bags, samples per shard of other formats (files of a tar, if made from rows or datapoints)",
      count,
    )
    .option(
      "--shard-size <size>",
      "size after which a shard ends, such as 64M; for mds, the maximum size of a shard",
      size,
    )
    .option(
      "--parts <n>",
      "write N .ffr files, in the new directory TARGET",
      count,
    )
    .option(
      "--row-group <n>",
      "for parquet: maximum rows in a row group (default: 10000)",
      count,
    )
    .option("--videos-per-chunk <n>", "for gulp (default: 100)", count)
    .option("--lossy", "convert even if something is lost")
    .option("-f, --force", "replace an existing TARGET")
    .option("--json", "print what was planned and written, as JSON")
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
  checkGiven(target, "the target");
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
    const left = leftOut === 0 ? "" : `, ${leftOut} skipped, named by warnings`;
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
