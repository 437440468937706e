import { Command } from "commander";
import { FormatError, RecordfsError } from "../../errors.ts";
import type { CheckReport } from "../../vfs/mod.ts";
import { check as checkContainer } from "../../vfs/open.ts";
import { counted } from "../terminal/counted.ts";
import { messageText } from "../../message_text.ts";
import { inFlags } from "../flag_words.ts";
import { Exit, ExitCode } from "../exit.ts";
import { checkGiven } from "../input/given.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { Flood, warn } from "../messages.ts";
import { print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";

interface CheckCommandOptions extends CommonOptions {
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
  return withOptions(command, "format", "all").action(
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
  const damages = new Flood((line) => print(`damaged: ${line}\n`), options);
  const result = await run(
    source,
    options,
    ({ message }) => damages.add(messageText(inFlags(message))),
  );
  damages.end();
  const { samples, bytes, damaged } = result;
  const verdict = damaged === 0 ? "all sound" : `${damaged} damaged`;
  print(
    `${messageText(source)}: ${counted(samples, "sample")}, ${
      counted(bytes, "byte")
    }, ${verdict}\n`,
  );
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
  print({ source, ok, ...facts, damage: damages.map(describe) }, 2);
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
  using bar = new Progress("checking", "bytes");
  const warnings = new Flood(warn, { all });
  try {
    return await checkContainer(source, {
      format,
      ext,
      values,
      onWarning: (message) => warnings.add(message),
      onDamage,
      onProgress: (done, total) => bar.update(done, total),
    });
  } finally {
    warnings.end();
  }
}

function describe(
  { code, message, path, sample, offset, expected, actual }: RecordfsError,
): Record<string, unknown> {
  const said = inFlags(message);
  return { code, message: said, path, sample, offset, expected, actual };
}
