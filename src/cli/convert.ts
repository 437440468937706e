import { Command, InvalidArgumentError, Option } from "commander";
import * as fs from "node:fs";
import { RecordfsError } from "../errors.ts";
import {
  ConversionError,
  type ConversionPlan,
  convert,
  type ConvertOptions,
  type ConvertReport,
  type ConvertTarget,
  type Generation,
  type Spec,
} from "../convert/mod.ts";
import { systemCode } from "../io/system_error.ts";
import { FORMATS } from "../vfs/formats.ts";
import { nameWriter } from "./escape.ts";
import { Exit, ExitCode, UsageError } from "./exit.ts";
import { checkGiven } from "./given.ts";
import { report, warn } from "./messages.ts";
import { withOutput } from "./output.ts";
import { Progress } from "./progress.ts";
import { abortable } from "./signals.ts";

interface ConvertCommandOptions {
  readonly to?: ConvertTarget;
  readonly from?: string;
  readonly generation?: string;
  readonly lossy?: true;
  readonly spec?: string;
  readonly shardSize?: number;
  readonly shardLength?: number;
  readonly parts?: number;
  readonly videosPerChunk?: number;
  readonly json?: true;
}

const TARGETS: readonly ConvertTarget[] = [
  "ffrecord",
  "ffrecord-samples",
  "gulp",
  "bags",
  "bag",
  "folder",
];

const AFTER_HELP = `
What DST becomes is told by its name where that ends in .ffr, .bag or /, and
otherwise by --to: ffrecord is a packed folder, bags a dataset, bag a single one.

First it says what changes and what is lost. If anything is lost, nothing is
written unless --lossy is given; that also leaves out what turns out to have no
form in DST, such as a frame that is no JPEG, and names it.

DST must not be there, or be an empty directory. It appears when it is complete.`;

/** `recordfs convert` */
export function convertCommand(): Command {
  return new Command("convert")
    .description(
      "convert a container or folder to another format or generation",
    )
    .argument("<source>", "the container, or a folder")
    .argument("<target>", "the new file or directory")
    .addOption(new Option("--to <target>", "what to make").choices(TARGETS))
    .addOption(
      new Option("--from <format>", "take SOURCE for this format")
        .choices([...FORMATS.map(({ name }) => name), "folder"]),
    )
    .addOption(
      new Option("--generation <n>", "of bags; 3 unless given")
        .choices(["1", "2", "3"]),
    )
    .option("--spec <file>", "JSON with the types by key, of files and samples")
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
    .option("--json", "say what was planned and written as JSON")
    .addHelpText("after", AFTER_HELP)
    .action(run);
}

async function run(
  source: string,
  target: string,
  options: ConvertCommandOptions,
): Promise<void> {
  checkGiven(source, "the container");
  checkGiven(target, "what is to be written");
  const { generation, spec, json, ...others } = options;
  const given = {
    ...others,
    generation: generation === undefined
      ? undefined
      : Number(generation) as Generation,
    spec: spec === undefined ? undefined : readSpec(spec),
  };
  let plan: ConversionPlan | undefined;
  try {
    const done = await abortable((signal) =>
      convertWithProgress(source, target, {
        ...given,
        signal,
        onPlan(made) {
          plan = made;
          if (!json) tellPlan(made);
        },
      })
    );
    await withOutput((output) => {
      output.put(json ? `${JSON.stringify(done)}\n` : summary(done));
      return Promise.resolve();
    });
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    if (error.code === "bad-option") throw new UsageError(error.message);
    if (json) {
      await withOutput((output) => {
        const { code, losses } = error;
        output.put(`${JSON.stringify({ refused: code, losses, plan })}\n`);
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
        warn(message);
      },
    });
  } finally {
    bar?.[Symbol.dispose]();
  }
}

function tellPlan({ from, to, changed, lost }: ConversionPlan): void {
  report(`${from} becomes ${to}`);
  for (const what of changed) report(`  changed: ${what}`);
  for (const what of lost) report(`  lost: ${what}`);
}

function summary({ path, count, unit, leftOut }: ConvertReport): string {
  const left = leftOut === 0 ? "" : `, ${leftOut} times something was left out`;
  const shown = nameWriter();
  return `${shown(path)}: ${count} ${
    count === 1 ? unit.slice(0, -1) : unit
  }${left}\n`;
}

/** The types by key, in a file of JSON. */
function readSpec(file: string): Spec {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const { message } = error as Error;
    throw new RecordfsError(code, `Cannot read ${file}: ${message}`, {
      path: file,
      cause: error,
    });
  }
  try {
    return JSON.parse(text); // what it holds is checked when it is used
  } catch (cause) {
    throw new RecordfsError(
      "bad-spec",
      `${file} is not JSON: ${(cause as Error).message}`,
      { path: file, cause },
    );
  }
}

function count(text: string): number {
  const number = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(number) && number >= 1) {
    return number;
  }
  throw new InvalidArgumentError("It is a whole number, from 1 on.");
}
