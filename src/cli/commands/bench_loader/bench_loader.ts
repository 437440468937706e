import { Command, Option } from "commander";
import { RecordfsError } from "../../../base/errors.ts";
import { counted } from "../../terminal/amounts.ts";
import { datasetOf } from "./dataset_of.ts";
import { UsageError } from "../../exit.ts";
import {
  type LoaderRun,
  type LoaderRunOptions,
  runLoader,
  SECONDS,
} from "./loader_run.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import { abortable } from "../../terminal/signals.ts";
import {
  type CommonOptions,
  count,
  wholeNumberFrom,
  wholeNumbersFrom,
  withOptions,
} from "../../input/options.ts";
import { shownLocation } from "../../../io/remote/remote_location.ts";

interface BenchLoaderOptions extends CommonOptions, LoaderRunOptions {
  readonly frames?: number;
  readonly workers: readonly number[];
  readonly batch: readonly number[];
}

/** Maximum number of threads: some systems cannot start more, and no loader gets faster. */
const MOST_THREADS = 256;

const AFTER_HELP = `
Runs a DataLoader with each number of workers and each batch size, epoch after
epoch, and prints how many samples it gives in a second. MB are 10^6 bytes of
what the samples have: bytes as they are stored, of gulp directories and of
datasets with images the pixels that they are decoded to. START is how long the
first batch took, which is not counted otherwise; threads start in that time.

Samples are what they are for \`split\`, whose help lists them; but of a single
chunk of a gulp directory they are files. What is read again comes from the
system's memory, where it fits there.`;

export function makeCommand(): Command {
  const command = new Command("bench-loader")
    .argument("<source>", "the container")
    .addOption(
      new Option(
        "--workers <list>",
        "numbers of worker threads; 0 loads in the main thread",
      )
        .argParser(wholeNumbersFrom(0, MOST_THREADS))
        .default([0, 1, 2], "0,1,2"),
    )
    .addOption(
      new Option("--batch <list>", "batch sizes")
        .argParser(wholeNumbersFrom(1)).default([64], "64"),
    )
    .option(
      "--seconds <n>",
      `duration of each run (default: ${SECONDS})`,
      count,
    )
    .option("--batches <n>", "number of batches that each run loads", count)
    .option("--prefetch <n>", "batches that each thread prefetches", count, 2)
    .option("--shuffle", "load in random order")
    .option("--seed <n>", "random seed of the order", wholeNumberFrom(0))
    .option("--frames <n>", "frames per video (default: all)", count)
    .option("--json", "print JSON")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "source", "all", "verify").action(benchLoader);
}

async function benchLoader(
  source: string,
  options: BenchLoaderOptions,
): Promise<void> {
  checkOptions(options);
  const shown = shownLocation(source);
  const opened = await datasetOf(source, options);
  using dataset = opened.dataset;
  if (dataset.length === 0) {
    throw new RecordfsError(
      "no-samples",
      `Cannot load ${shown}: it has no samples`,
      { path: shown },
    );
  }
  const { unit, codec } = opened;
  const { length } = dataset;
  if (!options.json) {
    const samples = counted(length, unit.slice(0, -1));
    const by = codec === undefined ? "" : `, images decoded by ${codec}`;
    print(`${nameWriter()(shown)}: ${samples}${by}\n${TITLE}`);
  }
  const runs: LoaderRun[] = [];
  await abortable(async (signal) => {
    for (const workers of options.workers) {
      for (const batch of options.batch) {
        const run = await runLoader(opened, workers, batch, options, signal);
        runs.push(run);
        if (!options.json) print(row(run));
      }
    }
  });
  if (options.json) print({ source: shown, unit, length, codec, runs });
}

function checkOptions(options: BenchLoaderOptions): void {
  const { seconds, batches, seed, shuffle } = options;
  if (seconds !== undefined && batches !== undefined) {
    throw new UsageError(
      "--seconds and --batches exclude each other",
    );
  }
  if (seed !== undefined && shuffle !== true) {
    throw new UsageError("--seed needs --shuffle");
  }
}

const COLUMNS = ["WORKERS", "BATCH", "SAMPLES/S", "MB/S", "START"] as const;
const WIDTHS = [7, 7, 12, 12, 9] as const;

const TITLE = line(COLUMNS);

function row(run: LoaderRun): string {
  return line([
    String(run.workers),
    String(run.batch),
    rounded(run.samplesPerSecond),
    rounded(run.megabytesPerSecond),
    `${run.firstBatchSeconds.toFixed(2)} s`,
  ]);
}

/** Formats a rate with one decimal; small rates with three significant digits, not as 0.0. */
function rounded(rate: number): string {
  if (!Number.isFinite(rate)) return "-"; // only one batch was loaded
  return rate === 0 || rate >= 10
    ? rate.toFixed(1)
    : String(Number(rate.toPrecision(3)));
}

function line(cells: readonly string[]): string {
  const padded = cells.map((cell, i) => cell.padStart(WIDTHS[i]!));
  return `${padded.join("  ")}\n`;
}
