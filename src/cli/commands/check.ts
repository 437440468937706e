import { Command } from "commander";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import type { CheckReport } from "../../tree/format.ts";
import { check as checkContainer } from "../../open/open.ts";
import { counted } from "../terminal/amounts.ts";
import { messageText } from "../../base/message_text.ts";
import { flagMessageOf } from "../flag_words.ts";
import { Exit, ExitCode } from "../exit.ts";
import { checkGiven, checkSource } from "../input/given.ts";
import {
  type CommonOptions,
  subsetOption,
  withOptions,
} from "../input/options.ts";
import { remoteOf } from "../input/remote_flags.ts";
import { storedLocation } from "../input/remote_storages.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { RateLimitedLog, warn } from "../messages.ts";
import { describeError } from "../terminal/json_error.ts";
import { print } from "../terminal/output.ts";
import { Opening } from "../terminal/opening.ts";
import { Progress } from "../terminal/progress.ts";

interface CheckCommandOptions extends CommonOptions {
  readonly values?: true;
}

export function makeCommand(): Command {
  const command = new Command("check")
    .argument("<source>", "the container")
    .option(
      "--values",
      "also decode every value of a dataset of bags, and every picture",
    )
    .addOption(subsetOption())
    .option("--json", "print JSON");
  return withOptions(command, "source", "all").action(check);
}

async function check(
  source: string,
  options: CheckCommandOptions,
): Promise<void> {
  const { format, ext, maxRatio, values, subset, json, all } = options;
  checkSource(source, "the container");
  if (subset !== undefined) checkGiven(subset, "the index file");
  const damage: FormatError[] = [];
  const faults = new RateLimitedLog((line) => print(`damaged: ${line}\n`), {
    all,
  });
  const warnings = new RateLimitedLog(warn, { all });
  let found: CheckReport | undefined;
  let failure: RecordfsError | undefined;
  try {
    using opening = new Opening();
    using bar = new Progress("checking", "bytes");
    const { location, storage } = await storedLocation(
      source,
      options,
      opening,
    );
    found = await checkContainer(location, {
      format,
      ext,
      maxRatio,
      remote: remoteOf(options),
      values,
      subset,
      storage,
      onWarning: (message) => warnings.add(message),
      onDamage: (one) => {
        if (json) damage.push(one);
        else faults.add(messageText(flagMessageOf(one)));
      },
      onProgress(done, total) {
        opening[Symbol.dispose]();
        bar.update(done, total);
      },
    });
  } catch (error) {
    if (!json || !(error instanceof RecordfsError)) throw error;
    failure = error;
  }
  warnings.end();
  faults.end();
  const ok = found?.damaged === 0;
  if (json) {
    const facts = found ?? { error: describeError(failure!) };
    print({
      source: shownLocation(source),
      ...subset === undefined ? {} : { subset },
      ok,
      ...facts,
      damage: damage.map(describeError),
    });
  } else {
    const { samples, of, bytes, damaged } = found!;
    const checked = of === undefined
      ? counted(samples, "sample")
      : `${samples} of ${of} samples, selected by ${messageText(subset!)}`;
    print(
      `${messageText(shownLocation(source))}: ${checked}, ` +
        `${counted(bytes, "byte")}, ${
          ok ? soundness(found!, values) : `${damaged} damaged`
        }\n`,
    );
  }
  if (failure !== undefined) throw failure;
  if (!ok) throw new Exit(ExitCode.FAILED);
}

function soundness(
  { compares = "contents", pictures = 0 }: CheckReport,
  values: true | undefined,
): string {
  if (compares === "contents") return "all sound";
  if (!values) {
    return "structure sound; contents have no checksums, but --values decodes them";
  }
  return `structure sound, ${counted(pictures, "picture")} decoded`;
}
