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
SOURCE is not changed. TARGET receives, byte for byte and in chunks of the same
names, the videos whose frames are all within bounds and JPEGs; of two videos with
the same id, the first undamaged one; of a truncated meta file, the videos before
the cut. TARGET must be new or empty, and appears when it is complete. Skipped
videos and frames are named. If nothing can be saved, nothing is written and the
exit code is 1.

There is no --force: TARGET might be the only undamaged copy. Remove TARGET
first, or choose another.`;

export function repairCommand(): Command {
  const command = new Command("repair")
    .description("write an undamaged copy of a damaged directory of chunks")
    .argument("<source>", "the damaged directory")
    .argument("<target>", "the new directory")
    .option("--partial", "keep the undamaged frames of damaged videos")
    .option("--json", "print JSON")
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
  const losses = new RateLimitedLog((line) => print(`skipped: ${line}\n`), {
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
        `${counted(bytes, "byte")}; skipped: ${leftOut}\n`,
  );
}
