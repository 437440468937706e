import { Command, InvalidArgumentError } from "commander";
import type {
  AdapterClass,
  DatasetAdapter,
} from "../../../formats/gulp/adapters/dataset_adapter.ts";
import type { AdapterOptions } from "../../../formats/gulp/adapters/options.ts";
import {
  type FailedVideo,
  GulpIngestor,
  IngestError,
  type IngestProgress,
  type IngestReport,
} from "../../../formats/gulp/mod.ts";
import { counted } from "../../terminal/counted.ts";
import { nameWriter } from "../../terminal/escape.ts";
import { Exit, ExitCode, UsageError } from "../../exit.ts";
import { inFlags } from "../../flag_words.ts";
import {
  Flood,
  type FloodOptions,
  withAllOption,
} from "../../terminal/flood.ts";
import { checkGiven } from "../../input/given.ts";
import { AdapterFlags } from "./gulp_options.ts";
import { report } from "../../messages.ts";
import { withOutput } from "../../terminal/output.ts";
import { Progress } from "../../terminal/progress.ts";
import { formatBytes, Rate, rateAfter } from "../../terminal/rate.ts";
import { abortable } from "../../terminal/signals.ts";

/** Options of every command that gulps. */
interface IngestCommandOptions extends FloodOptions {
  readonly videosPerChunk: number;
  readonly numWorkers: number;
  readonly extend?: true;
  readonly resume?: true;
  readonly json?: true;
}

/** More threads than that are not started unless asked for: ffmpeg has threads of its own. */
const MOST_WORKERS = 4;

const AFTER_HELP = `
OUT is the directory of the chunks, data_0.gulp, meta_0.gmeta and so on. A chunk
appears when it is complete; Ctrl-C and kill -9 leave complete ones, and the same
command with --resume writes the others. Videos that fail are left out and
named; the exit code is 1 then, and --resume tries them again.`;

/**
 * A command that gulps what an adapter reads.
 *
 * @param make Makes the adapter.
 */
export function ingestCommand(
  name: string,
  description: string,
  { options: declared = [] }: AdapterClass,
  make: (options: AdapterOptions) => Promise<DatasetAdapter>,
  isOwn = false,
): Command {
  const command = new Command(name).description(description);
  const flags = new AdapterFlags(command, declared, isOwn);
  const workers = Math.min(navigator.hardwareConcurrency, MOST_WORKERS);
  command
    .argument("<out>", "directory of the chunks; made where it is missing")
    .option("--videos-per-chunk <n>", "videos in a chunk", count, 100)
    .option("--num-workers <n>", "chunks written at a time", count, workers)
    .option("--extend", "add chunks to those that OUT has")
    .option("--resume", "go on with what was not finished")
    .option("--json", "say what was written as JSON")
    .addHelpText("after", AFTER_HELP);
  return withAllOption(command)
    .action((...args: unknown[]) => {
      const places = args.slice(0, flags.places + 1) as string[];
      const given = args[flags.places + 1] as IngestCommandOptions;
      const out = places.pop()!;
      checkGiven(out, "the directory of the chunks");
      const options = flags.options(places, { ...given });
      checkOptions(options);
      const adapter = () => make({ ...options, outputFolder: out });
      return ingest(adapter, out, given, flags.words);
    });
}

/** What a command line can get wrong beyond single values. */
function checkOptions(options: AdapterOptions): void {
  for (const value of Object.values(options)) {
    if (value === "") throw new UsageError("an argument is empty");
  }
  if (options.seed === undefined || options.shuffle === true) return;
  throw new UsageError("--seed says how to shuffle: give --shuffle as well");
}

async function ingest(
  make: () => Promise<DatasetAdapter>,
  out: string,
  options: IngestCommandOptions,
  words: Readonly<Record<string, string>>,
): Promise<void> {
  const start = performance.now();
  const failures = new Flood(report, options);
  const written = await abortable(async (signal) => {
    const { videosPerChunk, numWorkers, extend, resume, json } = options;
    const adapter = await make();
    const ingestor = new GulpIngestor(
      adapter,
      out,
      videosPerChunk,
      numWorkers,
    );
    using bar = new IngestProgressBar();
    try {
      return await ingestor.run({
        extend,
        resume,
        signal,
        onProgress: (progress) => bar.update(progress),
        onFailure: (failed) => {
          bar.makeWay();
          if (json !== true) failures.add(describe(failed));
        },
      });
    } catch (error) {
      if (error instanceof Exit) {
        bar.makeWay();
        report(
          `stopped: ${out} has the chunks that are complete; --resume writes ` +
            "the others",
        );
      }
      throw inWords(error, words);
    }
  });
  failures.end();
  await sayWhatWasWritten(out, written, start, options);
  if (written.failed.length > 0) throw new Exit(ExitCode.FAILED);
}

async function sayWhatWasWritten(
  out: string,
  written: IngestReport,
  start: number,
  { json, all }: IngestCommandOptions,
): Promise<void> {
  const { videos, frames, bytes, paths, failed } = written;
  const seconds = (performance.now() - start) / 1000;
  await withOutput((output) => {
    output.put(
      json
        ? `${JSON.stringify({ ...written, seconds })}\n`
        : `${nameWriter()(out)}: ${counted(videos, "video")}, ` +
          `${counted(frames, "frame")}, ${counted(bytes, "byte")}, ` +
          `${counted(paths.length, "chunk")}${rateAfter(bytes, seconds)}\n`,
    );
    return Promise.resolve();
  });
  if (json || failed.length === 0) return;
  report(
    `${counted(failed.length, "video")} not gulped; --resume tries again:`,
  );
  const ids = new Flood((line) => report(`  ${line}`), { all });
  for (const { id } of failed) ids.add(id);
  ids.end();
}

/** An error of the library that calls the adapter's options as the command line does. */
function inWords(
  error: unknown,
  words: Readonly<Record<string, string>>,
): unknown {
  if (!(error instanceof IngestError)) return error;
  const { code, message, path } = error;
  return new IngestError(code, inFlags(message, words), { path, cause: error });
}

function describe({ id, reason }: FailedVideo): string {
  return `video ${JSON.stringify(id)}: ${reason}`;
}

function count(text: string): number {
  const number = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(number) && number >= 1) {
    return number;
  }
  throw new InvalidArgumentError("It is a whole number from 1 on.");
}

/** How far an ingest is: videos, frames, bytes a second, and how long it still takes. */
class IngestProgressBar implements Disposable {
  readonly #rate = new Rate();
  #bar: Progress | undefined;
  /** Videos that a run before this one had done. */
  #before = 0;

  /** Shows how far it is; the first call says what was done before. */
  update({ videos, failed, totalVideos, frames, bytes }: IngestProgress): void {
    if (!Progress.shown) return;
    const done = videos + failed;
    if (this.#bar === undefined) {
      this.#before = done;
      this.#bar = new Progress("gulping", "videos", totalVideos - done);
    }
    this.#rate.note(bytes);
    const rate = formatBytes(this.#rate.perSecond);
    this.#bar.update(
      done - this.#before,
      `${done} of ${totalVideos} videos, ${frames} frames, ${rate}/s`,
    );
  }

  /** Clears the line, so that something else can be printed. */
  makeWay(): void {
    this.#bar?.makeWay();
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    this.#bar?.[Symbol.dispose]();
  }
}
