import { Command, Option } from "commander";
import type {
  AdapterClass,
  DatasetAdapter,
} from "../../../formats/gulp/adapters/dataset_adapter.ts";
import type { AdapterOptions } from "../../../formats/gulp/adapters/options.ts";
import { GulpIngestor, IngestError } from "../../../formats/gulp/mod.ts";
import { counted, formatBytes, rateAfter } from "../../terminal/amounts.ts";
import { Exit, ExitCode, UsageError } from "../../exit.ts";
import { flagMessageOf } from "../../flag_words.ts";
import { checkGiven } from "../../input/given.ts";
import { argumentOf, optionOf, SHM_DIR } from "./gulp_options.ts";
import { type CommonOptions, count, withOptions } from "../../input/options.ts";
import { RateLimitedLog, report } from "../../messages.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import { Progress, Rate } from "../../terminal/progress.ts";
import { abortable } from "../../terminal/signals.ts";

interface IngestCommandOptions extends CommonOptions {
  readonly videosPerChunk: number;
  readonly workers?: number;
  /** Name of the option in GulpIO. */
  readonly numWorkers?: number;
  readonly extend?: true;
  readonly resume?: true;
}

/** Maximum default number of threads: ffmpeg has its own threads. */
const MOST_WORKERS = 4;
const WORKERS = Math.min(navigator.hardwareConcurrency, MOST_WORKERS);

const AFTER_HELP = `
TARGET is the directory of the chunks: data_0.gulp, meta_0.gmeta and so on. A
chunk appears when it is complete; Ctrl-C and kill -9 leave complete ones, and the
same command with --resume writes the others. Videos that fail are skipped and
named; then the exit code is 1, and --resume tries them again.

There is no --force: chunks appear one by one, so the existing ones could not be
replaced as a whole. Remove TARGET first, choose another, or give --extend.`;

export function ingestCommand(
  name: string,
  description: string,
  { options: declared = [] }: AdapterClass,
  make: (options: AdapterOptions) => Promise<DatasetAdapter>,
  isOwn = false,
): Command {
  const command = new Command(name).description(description);
  const placed = declared.filter(({ positional }) => positional === true);
  const flags = declared.filter((option) => !placed.includes(option))
    .map((option) => [option.name, optionOf(option, isOwn)] as const);
  const words = Object.fromEntries(
    flags.map(([name, { long }]) => [name, long!]),
  );
  for (const option of placed) command.addArgument(argumentOf(option));
  for (const [, flag] of flags) command.addOption(flag);
  if (!isOwn) command.addOption(SHM_DIR);
  command
    .argument("<target>", "directory of the chunks; created if missing")
    .option("--videos-per-chunk <n>", "videos per chunk", count, 100)
    .addOption(
      new Option(
        "--workers <n>",
        `chunks written at a time (default: ${WORKERS})`,
      )
        .argParser(count),
    )
    .addOption(new Option("--num-workers <n>").argParser(count).hideHelp())
    .option("--extend", "add chunks to those in TARGET")
    .option("--resume", "continue an unfinished ingest")
    .option("--json", "print what was written, as JSON")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "all")
    .action((...args: unknown[]) => {
      const out = args[placed.length] as string;
      const given = args[placed.length + 1] as IngestCommandOptions;
      checkGiven(out, "the directory of the chunks");
      const values = new Map<string, unknown>(Object.entries(given));
      const options = Object.fromEntries([
        ...placed.map(({ name }, i) => [name, args[i]]),
        ...flags.map(([name, flag]) => [name, valueOf(flag, values)]),
      ].filter(([, value]) => value !== undefined));
      checkOptions(options);
      const adapter = () => make({ ...options, outputFolder: out });
      return ingest(adapter, out, given, words);
    });
}

/** Value of a flag, if given: for `--no-x`, commander returns true if it is absent. */
function valueOf(flag: Option, given: ReadonlyMap<string, unknown>): unknown {
  const value = given.get(flag.attributeName());
  return flag.negate && value === true ? undefined : value;
}

function checkOptions(options: AdapterOptions): void {
  for (const value of Object.values(options)) {
    if (value === "") throw new UsageError("an argument is empty");
  }
  if (options.seed === undefined || options.shuffle === true) return;
  throw new UsageError("--seed needs --shuffle");
}

async function ingest(
  make: () => Promise<DatasetAdapter>,
  out: string,
  options: IngestCommandOptions,
  words: Readonly<Record<string, string>>,
): Promise<void> {
  const { videosPerChunk, workers, numWorkers, extend, resume, json, all } =
    options;
  const start = performance.now();
  const failures = new RateLimitedLog(report, { all });
  const written = await abortable(async (signal) => {
    const adapter = await make();
    const ingestor = new GulpIngestor(
      adapter,
      out,
      videosPerChunk,
      workers ?? numWorkers ?? WORKERS,
    );
    using bar = new Progress("gulping", "videos");
    const rate = new Rate();
    let before: number | undefined; // videos done by an earlier run
    try {
      return await ingestor.run({
        extend,
        resume,
        signal,
        onProgress({ videos, failed, totalVideos, frames, bytes }) {
          const done = videos + failed;
          before ??= done;
          rate.note(bytes);
          bar.update(
            done - before,
            totalVideos - before,
            `${done} of ${totalVideos} videos, ${frames} frames, ` +
              `${formatBytes(rate.perSecond)}/s`,
          );
        },
        onFailure({ id, reason }) {
          if (!json) failures.add(`video ${JSON.stringify(id)}: ${reason}`);
        },
      });
    } catch (error) {
      if (error instanceof Exit) {
        report(
          `stopped: ${out} has the complete chunks; write ` +
            "the others with --resume",
        );
      }
      throw inWords(error, words);
    }
  });
  failures.end();
  const { videos, frames, bytes, paths, failed } = written;
  const seconds = (performance.now() - start) / 1000;
  print(
    json
      ? { ...written, seconds }
      : `${nameWriter()(out)}: ${counted(videos, "video")}, ` +
        `${counted(frames, "frame")}, ${counted(bytes, "byte")}, ` +
        `${counted(paths.length, "chunk")}${rateAfter(bytes, seconds)}\n`,
  );
  if (failed.length === 0) return;
  if (!json) {
    report(
      `${counted(failed.length, "video")} not gulped; try again with --resume:`,
    );
    const ids = new RateLimitedLog((line) => report(`  ${line}`), { all });
    for (const { id } of failed) ids.add(id);
  }
  throw new Exit(ExitCode.FAILED);
}

/** Replaces the adapter's option names in an error of the library by flags. */
function inWords(
  error: unknown,
  words: Readonly<Record<string, string>>,
): unknown {
  if (!(error instanceof IngestError)) return error;
  const { code, path } = error;
  const message = flagMessageOf(error, words);
  return new IngestError(code, message, { path, cause: error });
}
