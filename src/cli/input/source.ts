import { type Command, Option } from "commander";
import { formatNames } from "../../formats/registry.ts";
import { open } from "../../vfs/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../vfs/virtual_fs.ts";
import { Flood, type FloodOptions, withAllOption } from "../terminal/flood.ts";
import { checkExt, checkGiven } from "./given.ts";
import { asUsageError, parsePlaced } from "./placed_source.ts";
import { collect } from "./repeatable.ts";
import { warn } from "../messages.ts";

/** Options of every command that opens a container. */
export interface SourceOptions extends FloodOptions {
  readonly format?: string | undefined;
  readonly ext?: string | undefined;
  /** Only of commands with {@linkcode withDecodedOption}. */
  readonly decoded?: true | undefined;
  /** Only of commands with {@linkcode withTreeOptions}: further containers. */
  readonly add?: readonly string[] | undefined;
  /** Likewise: the directory that is taken for the root. */
  readonly prefix?: string | undefined;
  /** False after `--no-verify`. */
  readonly verify?: boolean | undefined;
}

/** Adds `--format`, `--ext` and `--all`. */
export function withSourceOptions(command: Command): Command {
  return withAllOption(withFormatOptions(command));
}

/** Adds `--format`, `--format-module` and `--ext`. */
export function withFormatOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--format <name>", "take SOURCE for this format")
        .choices(formatNames()),
    )
    .addOption(formatModuleOption())
    .option("--ext <ext>", "suffix for names that are only numbers, as in jpg");
}

/** The option that names modules of formats; they are registered before (`registerGiven`). */
export function formatModuleOption(): Option {
  return new Option(
    "--format-module <file>",
    "a module of a format of your own, which SOURCE may be of",
  ).argParser(collect);
}

/** Adds `--decoded`, for commands that show paths or content. */
export function withDecodedOption(command: Command): Command {
  return command.option(
    "--decoded",
    "show values of datasets decoded as well: foo.json, foo.npy, foo.txt beside foo",
  );
}

/** Adds `--add` and `--prefix`, for commands that show a tree as a mount does. */
export function withTreeOptions(command: Command): Command {
  return command
    .option(
      "--add <source>",
      "show another container in the same tree: each, SOURCE as well, in a directory of its name, or in " +
        "PATH of SOURCE=PATH",
      collect,
    )
    .option("--prefix <path>", "take only what is in this directory");
}

/** Adds `--no-verify`, for commands that read content. */
export function withVerifyOption(command: Command): Command {
  return command.option("--no-verify", "do not compare checksums");
}

/**
 * Opens a container, or several as one, as the command line asks for.
 *
 * @throws {UsageError} If several can't stand in one tree.
 */
export async function openSource(
  source: string,
  options: SourceOptions,
): Promise<VirtualFs> {
  const { format, ext, decoded, verify, add, prefix } = options;
  checkGiven(source, "the container");
  checkExt(options);
  const opened = add === undefined ? source : [source, ...add].map(parsePlaced);
  const warnings = new Flood(warn, options);
  try {
    return await open(opened, {
      format,
      ext,
      decoded,
      prefix,
      checkData: verify,
      onWarning: (message) => warnings.add(message),
    });
  } catch (error) {
    throw await asUsageError(error);
  } finally {
    warnings.end();
  }
}
