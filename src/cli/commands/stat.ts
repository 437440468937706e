import { Command } from "commander";
import { RecordfsError } from "../../errors.ts";
import type { VirtualStat } from "../../vfs/mod.ts";
import { formatTime } from "../terminal/entry_line.ts";
import { nameWriter } from "../terminal/escape.ts";
import { Exit, ExitCode } from "../exit.ts";
import { report } from "../messages.ts";
import { withOutput } from "../terminal/output.ts";
import {
  openSource,
  type SourceOptions,
  withDecodedOption,
  withSourceOptions,
  withTreeOptions,
} from "../input/source.ts";

/** `recordfs stat` */
export function statCommand(): Command {
  const command = new Command("stat")
    .description("describe files and directories of a container")
    .argument("<source>", "the container")
    .argument("<path...>", "files and directories in it; / is the root")
    .option("--json", "as a JSON array");
  return withDecodedOption(withTreeOptions(withSourceOptions(command))).action(
    stat,
  );
}

async function stat(
  source: string,
  paths: readonly string[],
  options: SourceOptions & { readonly json?: true },
): Promise<void> {
  using fs = await openSource(source, options);
  const found: { path: string; stat: VirtualStat }[] = [];
  for (const path of paths) {
    try {
      found.push({ path, stat: await fs.stat(path) });
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      report(error.message); // as stat(1), go on with the others
    }
  }
  const shown = nameWriter();
  await withOutput((out) => {
    if (options.json) {
      const list = found.map(({ path, stat }) => asJson(path, stat));
      out.put(`${JSON.stringify(list, null, 2)}\n`);
    } else {
      out.put(found.map((one) => asText(shown(one.path), one.stat)).join("\n"));
    }
    return Promise.resolve();
  });
  if (found.length < paths.length) throw new Exit(ExitCode.FAILED);
}

function asJson(path: string, stat: VirtualStat): Record<string, unknown> {
  return {
    path,
    type: stat.isDirectory ? "directory" : "file",
    size: stat.size,
    mtime: stat.mtime.toISOString(),
    ino: stat.ino,
  };
}

function asText(path: string, stat: VirtualStat): string {
  return `    path: ${path}\n` +
    `    type: ${stat.isDirectory ? "directory" : "file"}\n` +
    `    size: ${stat.size}\n` +
    `modified: ${formatTime(stat.mtime)}\n` +
    `   inode: ${stat.ino}\n`;
}
