import { Command } from "commander";
import { RecordfsError } from "../../errors.ts";
import type { VirtualStat } from "../../vfs/mod.ts";
import { formatTime } from "../terminal/entry_line.ts";
import { Exit, ExitCode } from "../exit.ts";
import { report } from "../messages.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { openSource } from "../input/source.ts";

/** `recordfs stat` */
export function makeCommand(): Command {
  const command = new Command("stat")
    .description("describe files and directories of a container")
    .argument("<source>", "the container")
    .argument("<path...>", "files and directories in it; / is the root")
    .option("--json", "as a JSON array");
  return withOptions(command, "format", "all", "tree", "decoded").action(stat);
}

async function stat(
  source: string,
  paths: readonly string[],
  options: CommonOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  const found: Found[] = [];
  for (const path of paths) {
    try {
      found.push({ path, stat: await fs.stat(path) });
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      report(error.message); // as stat(1), go on with the others
    }
  }
  print(options.json ? found.map(asJson) : found.map(asText).join("\n"), 2);
  if (found.length < paths.length) throw new Exit(ExitCode.FAILED);
}

interface Found {
  readonly path: string;
  readonly stat: VirtualStat;
}

function asJson({ path, stat }: Found): object {
  return {
    path,
    type: stat.isDirectory ? "directory" : "file",
    size: stat.size,
    mtime: stat.mtime.toISOString(),
    ino: stat.ino,
  };
}

function asText({ path, stat }: Found): string {
  return `    path: ${nameWriter()(path)}\n` +
    `    type: ${stat.isDirectory ? "directory" : "file"}\n` +
    `    size: ${stat.size}\n` +
    `modified: ${formatTime(stat.mtime)}\n` +
    `   inode: ${stat.ino}\n`;
}
