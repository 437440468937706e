import { Command } from "commander";
import { repairGulp } from "../../../formats/gulp/mod.ts";
import { counted } from "../../terminal/amounts.ts";
import { messageText } from "../../../base/message_text.ts";
import { checkGiven } from "../../input/given.ts";
import { type CommonOptions, withOptions } from "../../input/options.ts";
import { RateLimitedLog } from "../../messages.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import { Progress } from "../../terminal/progress.ts";
import { abortable } from "../../terminal/signals.ts";

interface RepairOptions extends CommonOptions {
  readonly partial?: true;
}

const AFTER_HELP = `
SOURCE is not changed. TARGET gets the videos whose frames all are where it says and
are JPEGs, byte for byte, in chunks of the same names; of two with the same id,
the first that is sound; of a meta file that is cut, what stands before. It is
new or empty, and appears when it is complete. What is left out is named; where
nothing can be saved, nothing is written and the exit code is 1.

There is no --force: TARGET might be the only sound directory. Remove TARGET
first, or choose another.`;

export function repairCommand(): Command {
  const command = new Command("repair")
    .description("make a sound directory of chunks from a damaged one")
    .argument("<source>", "the damaged directory")
    .argument("<target>", "the new directory")
    .option("--partial", "keep the sound frames of damaged videos")
    .option("--json", "as JSON")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "all").action(repair);
}

async function repair(
  dir: string,
  out: string,
  { partial, json, all }: RepairOptions,
): Promise<void> {
  checkGiven(dir, "the damaged directory");
  checkGiven(out, "the new directory");
  const listed: object[] = [];
  const losses = new RateLimitedLog((line) => print(`left out: ${line}\n`), {
    all,
  });
  const written = await abortable(async (signal) => {
    using bar = new Progress("repairing", "bytes");
    return await repairGulp(dir, out, {
      partial,
      signal,
      onLeftOut({ id, frames, error: { code, message, path } }) {
        if (json) listed.push({ id, frames, code, message, path });
        else losses.add(messageText(message));
      },
      onProgress: (done, total) => bar.update(done, total),
    });
  });
  losses.end();
  const { chunks, videos, frames, bytes, leftOut } = written;
  print(
    json
      ? { path: out, ...written, leftOut: listed }
      : `${nameWriter()(out)}: ${counted(chunks, "chunk")}, ` +
        `${counted(videos, "video")}, ${counted(frames, "frame")}, ` +
        `${counted(bytes, "byte")}; left out: ${leftOut}\n`,
  );
}
