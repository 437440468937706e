import { Command } from "commander";
import { RecordfsError } from "../../base/errors.ts";
import type { VirtualStat } from "../../tree/vfs/virtual_fs.ts";
import { formatTime } from "../terminal/amounts.ts";
import { Exit, ExitCode } from "../exit.ts";
import { report } from "../messages.ts";
import { describeError } from "../terminal/json_error.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { openSource } from "../input/source.ts";
import { flagMessageOf } from "../flag_words.ts";

export function makeCommand(): Command {
  const command = new Command("stat")
    .argument("<source>", "the container")
    .argument(
      "<path...>",
      "files and directories in the container; / is the root",
    )
    .option("--json", "print a JSON array");
  return withOptions(command, "source", "all", "tree", "nested", "decoded")
    .action(stat);
}

async function stat(
  source: string,
  paths: readonly string[],
  options: CommonOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  const shown: (object | string)[] = [];
  let failed = 0;
  const show = options.json ? asJson : asText;
  for (const path of paths) {
    try {
      shown.push(show(path, await fs.stat(path)));
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      report(flagMessageOf(error)); // like stat(1), continue with the others
      failed++;
      if (options.json) shown.push({ path, error: describeError(error) });
    }
  }
  print(options.json ? shown : shown.join("\n"));
  if (failed > 0) throw new Exit(ExitCode.FAILED);
}

function asJson(path: string, stat: VirtualStat): object {
  return {
    path,
    type: stat.isDirectory ? "directory" : "file",
    size: stat.size,
    mtime: stat.mtime.toISOString(),
    ino: stat.ino,
  };
}

function asText(path: string, stat: VirtualStat): string {
  return `    path: ${nameWriter()(path)}\n` +
    `    type: ${stat.isDirectory ? "directory" : "file"}\n` +
    `    size: ${stat.size}\n` +
    `modified: ${formatTime(stat.mtime)}\n` +
    `   inode: ${stat.ino}\n`;
}
