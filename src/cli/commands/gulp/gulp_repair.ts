import { Command } from "commander";
import { type GulpLeftOut, repairGulp } from "../../../formats/gulp/mod.ts";
import { counted } from "../../terminal/counted.ts";
import { messageText } from "../../../message_text.ts";
import { nameWriter } from "../../terminal/escape.ts";
import {
  Flood,
  type FloodOptions,
  withAllOption,
} from "../../terminal/flood.ts";
import { checkGiven } from "../../input/given.ts";
import { Output, withOutput } from "../../terminal/output.ts";
import { Progress } from "../../terminal/progress.ts";
import { abortable } from "../../terminal/signals.ts";

interface RepairOptions extends FloodOptions {
  readonly partial?: true;
  readonly json?: true;
}

const AFTER_HELP = `
DIR is not changed. OUT gets the videos whose frames all are where DIR says and
are JPEGs, byte for byte, in chunks of the same names; of two with the same id,
the first that is sound; of a meta file that is cut, what stands before. It is
new or empty, and appears when it is complete. What is left out is named; where
nothing can be saved, nothing is written and the exit code is 1.`;

/** `recordfs gulp repair` */
export function repairCommand(): Command {
  const command = new Command("repair")
    .description("make a sound directory of chunks from a damaged one")
    .argument("<dir>", "the damaged directory")
    .argument("<out>", "the new directory")
    .option("--partial", "keep the sound frames of damaged videos")
    .option("--json", "as JSON")
    .addHelpText("after", AFTER_HELP);
  return withAllOption(command).action(repair);
}

async function repair(
  dir: string,
  out: string,
  { partial, json, all }: RepairOptions,
): Promise<void> {
  checkGiven(dir, "the damaged directory");
  checkGiven(out, "the new directory");
  const listed: Record<string, unknown>[] = [];
  const output = new Output();
  let shown = Promise.resolve();
  const losses = new Flood((line) => {
    output.put(`left out: ${line}\n`);
    shown = shown.then(() => output.flush());
    shown.catch(() => {}); // thrown below
  }, { all });
  const written = await abortable(async (signal) => {
    let bar: Progress | undefined;
    try {
      return await repairGulp(dir, out, {
        partial,
        signal,
        onLeftOut: (leftOut) => {
          bar?.makeWay();
          if (json) return void listed.push(describe(leftOut));
          losses.add(messageText(leftOut.error.message));
        },
        onProgress: (done, total) => {
          bar ??= new Progress("repairing", "bytes", total);
          bar.update(done);
        },
      });
    } finally {
      bar?.[Symbol.dispose]();
      losses.end();
      await shown;
    }
  });
  await withOutput((output) => {
    const { chunks, videos, frames, bytes, leftOut } = written;
    output.put(
      json
        ? `${JSON.stringify({ path: out, ...written, leftOut: listed })}\n`
        : `${nameWriter()(out)}: ${counted(chunks, "chunk")}, ` +
          `${counted(videos, "video")}, ${counted(frames, "frame")}, ` +
          `${counted(bytes, "byte")}; left out: ${leftOut}\n`,
    );
    return Promise.resolve();
  });
}

function describe(
  { id, frames, error: { code, message, path } }: GulpLeftOut,
): Record<string, unknown> {
  return { id, frames, code, message, path };
}
