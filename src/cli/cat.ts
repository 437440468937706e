import { Command } from "commander";
import { RecordfsError } from "../errors.ts";
import { Exit, ExitCode } from "./exit.ts";
import { report } from "./messages.ts";
import { withOutput } from "./output.ts";
import {
  openSource,
  type SourceOptions,
  withDecodedOption,
  withSourceOptions,
  withVerifyOption,
} from "./source.ts";

/** `recordfs cat` */
export function catCommand(): Command {
  const command = new Command("cat")
    .description("write files of a container to standard output")
    .argument("<source>", "the container")
    .argument("<path...>", "files in it");
  return withVerifyOption(withDecodedOption(withSourceOptions(command)))
    .action(cat);
}

async function cat(
  source: string,
  paths: readonly string[],
  options: SourceOptions,
): Promise<void> {
  using fs = await openSource(source, options);
  let failed = false;
  for (const path of paths) {
    try {
      await withOutput(async (out) => {
        for await (const chunk of await fs.stream(path)) {
          out.putBytes(chunk);
          await out.flush();
        }
      });
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      report(error.message); // as cat(1), go on with the others
      failed = true;
    }
  }
  if (failed) throw new Exit(ExitCode.FAILED);
}
