import { Command, InvalidArgumentError, Option } from "commander";
import {
  ConversionError,
  type ConversionPlan,
  convert,
  type ConvertOptions,
  type ConvertReport,
} from "../../convert/mod.ts";
import { targetNames } from "../../convert/to/find_target.ts";
import { formatNames } from "../../formats/registry.ts";
import { nameWriter } from "../terminal/escape.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { Flood, type FloodOptions, withAllOption } from "../terminal/flood.ts";
import { checkGiven } from "../input/given.ts";
import { formatModuleOption } from "../input/source.ts";
import { givenSpec } from "../input/given_spec.ts";
import { report, warn } from "../messages.ts";
import { withOutput } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";

interface ConvertCommandOptions {
  readonly to?: string;
  readonly from?: string;
  readonly generation?: string;
  readonly lossy?: true;
  readonly force?: true;
  readonly spec?: string;
  readonly shardSize?: number;
  readonly shardLength?: number;
  readonly parts?: number;
  readonly videosPerChunk?: number;
  readonly json?: true;
  readonly all?: true;
}

const AFTER_HELP = `
What DST becomes is told by its name where that ends in .ffr, .bag or /, and
otherwise by --to: ffrecord is a packed folder, bags a dataset, bag a single one.

First it says what changes and what is lost. If anything is lost, nothing is
written unless --lossy is given; that also leaves out what turns out to have no
form in DST, such as a frame that is no JPEG, and names it.

DST must not be there, or be an empty directory. It appears when it is complete.
--force replaces what is there, but not before the new one is complete: a file,
or a directory that holds nothing but a container such as the new one.`;

/** `recordfs convert` */
export function convertCommand(): Command {
  const command = new Command("convert")
    .description(
      "convert a container or folder to another format or generation",
    )
    .argument("<source>", "the container, or a folder")
    .argument("<target>", "the new file or directory")
    .addOption(
      new Option("--to <target>", "what to make").choices(
        targetNames().map(({ name }) => name),
      ),
    )
    .addOption(
      new Option("--from <format>", "take SOURCE for this format")
        .choices([...formatNames(), "folder"]),
    )
    .addOption(formatModuleOption())
    .addOption(
      new Option("--generation <n>", "of bags; 3 unless given")
        .choices(["1", "2", "3"]),
    )
    .option(
      "--spec <spec>",
      "the types by key, of files and samples: a file, or JSON",
    )
    .option("--shard-length <n>", "datapoints in a shard of bags", count)
    .option(
      "--shard-size <bytes>",
      "bytes at which a shard of bags ends",
      count,
    )
    .option(
      "--parts <n>",
      "so many .ffr files, in the new directory DST",
      count,
    )
    .option("--videos-per-chunk <n>", "of gulp; 100 unless given", count)
    .option("--lossy", "convert although something is lost")
    .option("-f, --force", "replace a DST that is there already")
    .option("--json", "say what was planned and written as JSON")
    .addHelpText("after", AFTER_HELP);
  return withAllOption(command).action(run);
}

async function run(
  source: string,
  target: string,
  options: ConvertCommandOptions,
): Promise<void> {
  checkGiven(source, "the container");
  checkGiven(target, "what is to be written");
  const { generation, spec, json, all, force, ...others } = options;
  const given = {
    ...others,
    replace: force,
    generation: generation === undefined
      ? undefined
      : Number(generation) as 1 | 2 | 3,
    spec: spec === undefined ? undefined : givenSpec(spec),
  };
  let plan: ConversionPlan | undefined;
  const warnings: string[] = [];
  const shown = new Flood(warn, { all });
  const onWarning = (message: string) =>
    json ? void warnings.push(message) : shown.add(message);
  try {
    const done = await abortable((signal) =>
      convertWithProgress(source, target, {
        ...given,
        signal,
        onPlan(made) {
          plan = made;
          if (!json) tellPlan(made, { all });
        },
      }, onWarning)
    );
    shown.end();
    await withOutput((output) => {
      output.put(
        json ? `${JSON.stringify({ ...done, warnings })}\n` : summary(done),
      );
      return Promise.resolve();
    });
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    if (error.code === "bad-option") throw new UsageError(error.message);
    if (json) {
      await withOutput((output) => {
        const { code, losses } = error;
        output.put(
          `${JSON.stringify({ refused: code, losses, plan, warnings })}\n`,
        );
        return Promise.resolve();
      });
    }
    report(error.message);
    throw new Exit(ExitCode.FAILED);
  }
}

async function convertWithProgress(
  source: string,
  target: string,
  options: ConvertOptions,
  onWarning: (message: string) => void,
): Promise<ConvertReport> {
  let bar: Progress | undefined;
  try {
    return await convert(source, target, {
      ...options,
      onProgress({ unit, done, total }) {
        bar ??= new Progress("converting", unit, total);
        bar.update(done);
      },
      onWarning(message) {
        bar?.makeWay();
        onWarning(message);
      },
    });
  } finally {
    bar?.[Symbol.dispose]();
  }
}

function tellPlan(
  { from, to, changed, lost }: ConversionPlan,
  options: FloodOptions,
): void {
  report(`${from} becomes ${to}`);
  for (const [title, list] of Object.entries({ changed, lost })) {
    const flood = new Flood((line) => report(`  ${title}: ${line}`), options);
    for (const what of list) flood.add(what);
    flood.end();
  }
}

function summary({ path, count, unit, leftOut }: ConvertReport): string {
  const left = leftOut === 0 ? "" : `, ${leftOut} times something was left out`;
  const shown = nameWriter();
  return `${shown(path)}: ${count} ${
    count === 1 ? unit.slice(0, -1) : unit
  }${left}\n`;
}

function count(text: string): number {
  const number = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(number) && number >= 1) {
    return number;
  }
  throw new InvalidArgumentError("It is a whole number, from 1 on.");
}
