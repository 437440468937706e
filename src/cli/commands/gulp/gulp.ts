import { Command } from "commander";
import { basename } from "node:path";
import { RecordfsError } from "../../../errors.ts";
import {
  type AdapterOptions,
  ADAPTERS,
  makeAdapter,
  openAdapter,
} from "../../../formats/gulp/adapters/mod.ts";
import type { OwnAdapter } from "./gulp_adapter.ts";
import { ingestCommand } from "./gulp_ingest.ts";
import { repairCommand } from "./gulp_repair.ts";

/** What the commands of the adapters here do. */
const DESCRIPTIONS: Record<string, string> = {
  "json-videos": "20BN: a list in JSON, videos FOLDER/ID/*.mp4",
  "csv-webm": "20BN: a list in CSV, videos FOLDER/ID.webm",
  "csv-jpeg": "20BN: a list in CSV, frames FOLDER/ID/*.jpg",
  "image-list": "images that a list names with their labels",
  "image-folder": "images FOLDER/LABEL/NAME.jpg",
  "video-folder": "videos FOLDER/LABEL/NAME.mp4",
  "activitynet": "ActivityNet: its JSON file, videos FOLDER/ID.EXTENSION",
  "kinetics": "Kinetics: its JSON file, clips FOLDER/LABEL/ID_START_END.mp4",
};

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
  const commands = [...ADAPTERS].map(([name, Adapter]) =>
    ingestCommand(
      name,
      DESCRIPTIONS[name]!,
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
