import { untold } from "../../io/write/writer_base.ts";
import { Command } from "commander";
import { FFRecordWriter } from "../../formats/ffrecord/mod.ts";
import { counted, rateAfter } from "../terminal/amounts.ts";
import { UsageError } from "../exit.ts";
import { checkNewFile } from "../input/new_container.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import {
  filesInput,
  jsonInput,
  listInput,
  type SampleInput,
} from "../input/sample_inputs.ts";
import { abortable } from "../terminal/signals.ts";

interface WriteOptions extends CommonOptions {
  readonly list?: string;
  readonly jsonl?: string;
  readonly null?: true;
}

const AFTER_HELP = `
The samples are the SOURCEs in the given order, or the files that --list names,
or the lines of --jsonl: each a base64 string, {"base64": "..."} or
{"text": "..."}. --list - and --jsonl - read standard input.
TARGET appears when it is complete; an error leaves no file behind.`;

export function makeCommand(): Command {
  const command = new Command("write")
    .argument("<target>", "the new file; its name ends in .ffr")
    .argument("[source...]", "files, each of which becomes a sample")
    .option("--list <file>", "write the files that FILE names, one per line")
    .option("-0, --null", "names in --list end in NUL (find -print0)")
    .option("--jsonl <file>", "write the samples in the JSON lines of FILE")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "written").action(write);
}

async function write(
  out: string,
  files: readonly string[],
  options: WriteOptions,
): Promise<void> {
  checkInputs(files, options);
  checkNewFile(out, options);
  const start = performance.now();
  const { samples, bytes } = await abortable(async (signal) => {
    const input = await openInput(files, options, signal);
    try {
      const { count, unit, total } = input;
      await using writer = untold(
        await FFRecordWriter.open(out, { count, signal }),
      );
      using bar = new Progress("writing", unit, total);
      const update = (done: number) => bar.update(done);
      const bytes = await input.write(writer, signal, update);
      bar[Symbol.dispose]();
      await writer.close({ signal });
      return { samples: writer.length, bytes };
    } finally {
      input.close?.();
    }
  });
  const seconds = (performance.now() - start) / 1000;
  print(
    options.json
      ? { path: out, samples, bytes, seconds }
      : `${nameWriter()(out)}: ${counted(samples, "sample")}, ` +
        `${counted(bytes, "byte")}${rateAfter(bytes, seconds)}\n`,
  );
}

function checkInputs(files: readonly string[], options: WriteOptions): void {
  const { list, jsonl } = options;
  const given = [files.length > 0, list !== undefined, jsonl !== undefined];
  if (given.filter(Boolean).length !== 1) {
    throw new UsageError(
      "SOURCE, --list and --jsonl exclude each other: give one of them",
    );
  }
  if (options.null && list === undefined) {
    throw new UsageError("--null needs --list");
  }
}

async function openInput(
  files: readonly string[],
  { list, jsonl, null: nulls }: WriteOptions,
  signal: AbortSignal,
): Promise<SampleInput> {
  if (list !== undefined) return await listInput(list, nulls === true, signal);
  if (jsonl !== undefined) return await jsonInput(jsonl, signal);
  return filesInput(files);
}
