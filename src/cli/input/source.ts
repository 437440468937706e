import { type Command, Option } from "commander";
import { formatNames } from "../../formats/registry.ts";
import { open } from "../../vfs/open.ts"; // `mod.ts` loads every format
import type { VirtualFs } from "../../vfs/virtual_fs.ts";
import { Flood, type FloodOptions, withAllOption } from "../terminal/flood.ts";
import { checkExt, checkGiven } from "./given.ts";
import { collect } from "./repeatable.ts";
import { warn } from "../messages.ts";

/** Options of every command that opens a container. */
export interface SourceOptions extends FloodOptions {
  readonly format?: string | undefined;
  readonly ext?: string | undefined;
  /** Only of commands with {@linkcode withDecodedOption}. */
  readonly decoded?: true | undefined;
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

/** Adds `--no-verify`, for commands that read content. */
export function withVerifyOption(command: Command): Command {
  return command.option("--no-verify", "do not compare checksums");
}

/** Opens a container as the command line asks for. */
export async function openSource(
  source: string,
  options: SourceOptions,
): Promise<VirtualFs> {
  checkGiven(source, "the container");
  checkExt(options);
  const { format, ext, decoded, verify } = options;
  const warnings = new Flood(warn, options);
  try {
    return await open(source, {
      format,
      ext,
      decoded,
      checkData: verify,
      onWarning: (message) => warnings.add(message),
    });
  } finally {
    warnings.end();
  }
}
