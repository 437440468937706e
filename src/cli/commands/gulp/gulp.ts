import { Command } from "commander";
import { basename } from "node:path";
import { RecordfsError } from "../../../base/errors.ts";
import { ADAPTERS } from "../../../formats/gulp/adapters/adapters.ts";
import type { AdapterClass } from "../../../formats/gulp/adapters/dataset_adapter.ts";
import {
  loadAdapterClass,
  makeAdapter,
  openAdapter,
} from "../../../formats/gulp/adapters/load_adapter.ts";
import type { AdapterOptions } from "../../../formats/gulp/adapters/options.ts";
import { UsageError } from "../../exit.ts";
import { moduleUrl } from "../../input/format_modules.ts";
import { ingestCommand } from "./gulp_ingest.ts";
import { repairCommand } from "./gulp_repair.ts";

/** An adapter of the user's own, as `--adapter` names it. */
export interface OwnAdapter {
  /** As it was given. */
  readonly given: string;
  /** URL of its module, and what that exports. */
  readonly module: string;
  readonly name: string;
  readonly class: AdapterClass;
}

const AFTER_HELP = `
A data set of another shape is gulped by an adapter of your own, a class that a
module exports (docs/from-gulpio.md, "Gulp a data set of your own"):
  recordfs gulp --adapter ./mine.ts#MyAdapter [OPTIONS] ARGUMENTS TARGET
Its flags are those that the class declares; --help lists them.`;

/**
 * Loads the adapter that a command line `gulp --adapter MODULE#CLASS …` names: its other flags are
 * known only then.
 *
 * @param args A command line of `gulp`.
 * @returns It without `--adapter` and its value, the adapter in place of the subcommand; and the adapter.
 * @throws {UsageError} If it names none.
 * @throws {RecordfsError} If it does not load.
 */
export async function takeAdapter(
  args: readonly string[],
): Promise<{
  readonly args: readonly string[];
  readonly adapter: OwnAdapter | undefined;
}> {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const at = args.findIndex((arg, i) =>
    i < end && (arg === "--adapter" || arg.startsWith("--adapter="))
  );
  if (at < 0) return { args, adapter: undefined };
  const inOne = args[at]!.startsWith("--adapter=");
  const given = inOne ? args[at]!.slice("--adapter=".length) : args[at + 1];
  const [, path, name] = /^(.+)#([^#]+)$/.exec(given ?? "") ?? [];
  if (given === undefined || path === undefined || name === undefined) {
    throw new UsageError(
      "--adapter takes a module and the class that it exports, as in " +
        "--adapter ./mine.ts#MyAdapter",
    );
  }
  const module = moduleUrl(path);
  const Adapter = await loadAdapterClass(module, name);
  const adapter = { given, module, name, class: Adapter };
  const others = args.slice(1).toSpliced(at - 1, inOne ? 1 : 2);
  return { args: ["gulp", given, ...others], adapter };
}

/** `recordfs gulp`, with a command for each adapter. */
export function makeCommand(inherit: Command, own?: OwnAdapter): Command {
  const gulp = new Command("gulp")
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
    command.configureHelp({
      ...inherit.configureHelp(),
      commandUsage: () => usage,
    }),
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
