import { Command } from "commander";
import { FormatError, RecordfsError } from "../../errors.ts";
import type { CheckReport } from "../../vfs/mod.ts";
import { check as checkContainer } from "../../vfs/open.ts";
import { counted } from "../terminal/counted.ts";
import { messageText } from "../../message_text.ts";
import { inFlags } from "../flag_words.ts";
import { Flood } from "../terminal/flood.ts";
import { Exit, ExitCode } from "../exit.ts";
import { checkGiven } from "../input/given.ts";
import { warn } from "../messages.ts";
import { Output, withOutput } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { type SourceOptions, withSourceOptions } from "../input/source.ts";

interface CheckCommandOptions extends SourceOptions {
  readonly json?: true;
  readonly values?: true;
}

/** `recordfs check` */
export function checkCommand(): Command {
  const command = new Command("check")
    .description(
      "look for damage: checksums, frames of videos, indexes and references of bags",
    )
    .argument("<source>", "the container")
    .option("--values", "decode every value of a dataset as well")
    .option("--json", "as JSON");
  return withSourceOptions(command).action(
    (source: string, options: CheckCommandOptions) =>
      options.json
        ? checkAsJson(source, options)
        : checkAsText(source, options),
  );
}

async function checkAsText(
  source: string,
  options: CheckCommandOptions,
): Promise<void> {
  const out = new Output();
  let shown = Promise.resolve();
  const damages = new Flood((line) => {
    out.put(`damaged: ${line}\n`);
    shown = shown.then(() => out.flush());
    shown.catch(() => {}); // thrown below
  }, options);
  const result = await run(
    source,
    options,
    ({ message }) => damages.add(messageText(inFlags(message))),
  );
  damages.end();
  await shown;
  const { samples, bytes, damaged } = result;
  const verdict = damaged === 0 ? "all sound" : `${damaged} damaged`;
  out.put(
    `${messageText(source)}: ${counted(samples, "sample")}, ${
      counted(bytes, "byte")
    }, ${verdict}\n`,
  );
  await out.flush();
  if (damaged > 0) throw new Exit(ExitCode.FAILED);
}

async function checkAsJson(
  source: string,
  options: CheckCommandOptions,
): Promise<void> {
  const damages: FormatError[] = [];
  let facts: Record<string, unknown>;
  let failure: unknown;
  try {
    facts = { ...await run(source, options, (damage) => damages.push(damage)) };
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    failure = error;
    facts = { error: describe(error) };
  }
  const ok = failure === undefined && damages.length === 0;
  const list = damages.map(describe);
  await withOutput((out) => {
    const answer = { source, ok, ...facts, damage: list };
    out.put(`${JSON.stringify(answer, exactNumbers, 2)}\n`);
    return Promise.resolve();
  });
  if (failure !== undefined) throw failure;
  if (!ok) throw new Exit(ExitCode.FAILED);
}

/** Checks with a progress bar. */
async function run(
  source: string,
  { format, ext, values, all }: CheckCommandOptions,
  onDamage: (damage: FormatError) => void,
): Promise<CheckReport> {
  checkGiven(source, "the container");
  let bar: Progress | undefined;
  const warnings = new Flood(warn, { all });
  try {
    return await checkContainer(source, {
      format,
      ext,
      values,
      onWarning: (message) => {
        bar?.makeWay();
        warnings.add(message);
      },
      onDamage: (damage) => {
        bar?.makeWay();
        onDamage(damage);
      },
      onProgress: (done, total) => {
        bar ??= new Progress("checking", "bytes", total);
        bar.update(done);
      },
    });
  } finally {
    bar?.[Symbol.dispose]();
    warnings.end();
  }
}

/** Counts beyond 2^53 are bigints, which JSON knows only as text. */
function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function describe(
  { code, message, path, sample, offset, expected, actual }: RecordfsError,
): Record<string, unknown> {
  const said = inFlags(message);
  return { code, message: said, path, sample, offset, expected, actual };
}
