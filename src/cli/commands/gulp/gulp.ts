import { Command } from "commander";
import { basename } from "node:path";
import { RecordfsError } from "../../../errors.ts";
import { ADAPTERS } from "../../../formats/gulp/adapters/adapters.ts";
import {
  makeAdapter,
  openAdapter,
} from "../../../formats/gulp/adapters/load_adapter.ts";
import type { AdapterOptions } from "../../../formats/gulp/adapters/options.ts";
import type { OwnAdapter } from "./gulp_adapter.ts";
import { ingestCommand } from "./gulp_ingest.ts";
import { repairCommand } from "./gulp_repair.ts";

const AFTER_HELP = `
A data set of another shape is gulped by an adapter of your own, a class that a
module exports (docs/from-gulpio.md, "Gulp a data set of your own"):
  recordfs gulp --adapter ./mine.ts#MyAdapter [OPTIONS] ARGUMENTS OUT
Its flags are those that the class declares; --help lists them.`;

/** `recordfs gulp`, with a command for each adapter. */
export function gulpCommand(inherit: Command, own?: OwnAdapter): Command {
  const gulp = new Command("gulp")
    .description("gulp a data set into GulpIO chunks, or repair such chunks")
    // Taken out of the command line before; here for the help.
    .option("--adapter <module#class>", "gulp by an adapter of your own")
    .copyInheritedSettings(inherit)
    .addHelpText("after", AFTER_HELP);
  const commands = [...ADAPTERS].map(([name, [Adapter, gulped]]) =>
    ingestCommand(
      name,
      gulped,
      Adapter,
      // Its options are what it declares, which is what the flags are made of.
      (options) => openAdapter(Adapter, options),
    )
  );
  for (const command of [...commands, repairCommand()]) {
    gulp.addCommand(command.copyInheritedSettings(gulp));
  }
  if (own === undefined) return gulp;
  const command = ownCommand(own).copyInheritedSettings(gulp);
  const usage = `recordfs gulp --adapter ${own.given} ${command.usage()}`;
  return gulp.addCommand(
    command.configureHelp({ commandUsage: () => usage }),
  );
}

function ownCommand(
  { given, module, name, class: Adapter }: OwnAdapter,
): Command {
  const make = (options: AdapterOptions) =>
    makeAdapter({ module, name, options });
  const description = `${name} of ${basename(module)}`;
  try {
    return ingestCommand(given, description, Adapter, make, true);
  } catch (cause) { // commander's own words: two options of one name
    throw new RecordfsError(
      "bad-adapter",
      `${given} declares options that cannot be flags: ${
        (cause as Error).message
      }`,
      { path: module, cause },
    );
  }
}
