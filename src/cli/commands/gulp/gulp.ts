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

/** A user's adapter, as given by `--adapter`. */
export interface OwnAdapter {
  readonly given: string;
  /** URL of its module, and name of the exported class. */
  readonly module: string;
  readonly name: string;
  readonly class: AdapterClass;
}

const AFTER_HELP = `
To gulp a data set of another layout, write an adapter: a class that a module
exports (docs/from-gulpio.md, "Gulp a data set of your own"):
  recordfs gulp --adapter ./mine.ts#MyAdapter [OPTIONS] ARGUMENTS TARGET
The class declares its options, and --help lists them.`;

/**
 * Loads the adapter of a command line `gulp --adapter MODULE#CLASS …`. Runs before parsing, since the adapter defines
 * the other flags.
 *
 * @param args A command line of `gulp`.
 * @returns The line with the adapter in place of the subcommand, without `--adapter` and its value; and the adapter.
 * @throws {UsageError} If the value does not name an adapter.
 * @throws {RecordfsError} If the adapter does not load.
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
      "--adapter needs a module and a class that it exports, such as " +
        "--adapter ./mine.ts#MyAdapter",
    );
  }
  const module = moduleUrl(path);
  const Adapter = await loadAdapterClass(module, name);
  const adapter = { given, module, name, class: Adapter };
  const others = args.slice(1).toSpliced(at - 1, inOne ? 1 : 2);
  return { args: ["gulp", given, ...others], adapter };
}

/** Creates `recordfs gulp`, with a subcommand for each adapter. */
export function makeCommand(inherit: Command, own?: OwnAdapter): Command {
  const gulp = new Command("gulp")
    // Only for the help: it was removed from the command line before.
    .option("--adapter <module#class>", "gulp with an adapter of your own")
    .copyInheritedSettings(inherit)
    .addHelpText("after", AFTER_HELP);
  const commands = [...ADAPTERS].map(([name, [Adapter, gulped]]) =>
    ingestCommand(
      name,
      gulped,
      Adapter,
      // The flags are generated from the adapter's declaration, so the options match it.
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
  } catch (cause) { // commander rejects two options with the same name
    throw new RecordfsError(
      "bad-adapter",
      `Cannot use ${given}: it declares options that cannot be flags: ${
        (cause as Error).message
      }`,
      { path: module, cause },
    );
  }
}
