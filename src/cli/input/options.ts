import {
  Argument,
  type Command,
  InvalidArgumentError,
  Option,
} from "commander";
import { formatNames } from "../../formats/registry.ts";
import { sizeOf } from "../../base/size_text.ts";
import { SHOWN } from "../messages.ts";
import { type Nested, parseNested } from "./nested_flag.ts";
import type { RemoteFlags } from "./remote_flags.ts";
import { isRemote, REMOTE_HINT, remoteOptions } from "./remote_options.ts";

/** Values of options shared by several commands; each command has some of them. */
export interface CommonOptions extends RemoteFlags {
  readonly all?: true | undefined;
  readonly format?: string | undefined;
  readonly ext?: string | undefined;
  readonly maxRatio?: number | undefined;
  readonly decoded?: true | undefined;
  /** Suffixes of nested containers; `true` for the usual ones. */
  readonly nested?: Nested | undefined;
  readonly stripSuffix?: true | undefined;
  readonly add?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
  readonly subset?: string | undefined;
  /** False after `--no-verify`. */
  readonly verify?: boolean | undefined;
  readonly force?: true | undefined;
  readonly json?: true | undefined;
}

/** Shared options by group. */
const GROUPS = {
  /** For commands that open a container. */
  format: formatOptions,
  /** For commands that open a container, possibly by URL. */
  source: () => [...formatOptions(), ...remoteOptions(collect)],
  /** For commands that open a container in their own way, possibly by URL. */
  remote: () => remoteOptions(collect),
  /** For commands that print a line for each finding. */
  all: () => [
    new Option(
      "--all",
      `show every warning and fault, not only the first ${SHOWN}`,
    ),
  ],
  /** For commands that show a tree like a mount does. */
  tree: () => [
    new Option(
      "--add <source>",
      "open another container in the same tree: each, including SOURCE, in a directory of its name, or in " +
        "PATH of SOURCE=PATH",
    ).argParser(collect),
    new Option("--prefix <path>", "use only this directory of the container"),
  ],
  /** For commands that show paths or content. */
  decoded: () => [
    new Option(
      "--decoded",
      "also show decoded values of datasets: foo.json, foo.npy or foo.txt next to foo",
    ),
  ],
  /** For commands that show a tree. */
  nested: () => [
    new Option(
      "--nested [list]",
      "show containers in SOURCE, also in a plain directory or bucket, as directories: archives and datasets, or files " +
        "with the suffixes of --nested=LIST, such as .tar,.zip",
    ).argParser(parseNested),
    new Option(
      "--strip-suffix",
      "with --nested: show x.tar as x/, not as x.tar/, unless something else is called x",
    ),
  ],
  verify: () => [new Option("--no-verify", "do not verify checksums")],
  written: () => [
    new Option("-f, --force", "replace an existing file"),
    new Option("--json", "print what was written, as JSON"),
  ],
};

/** Adds groups of options; the help shows them in this order. */
export function withOptions(
  command: Command,
  ...groups: (keyof typeof GROUPS)[]
): Command {
  const options = groups.flatMap((group) => GROUPS[group]());
  for (const option of options) command.addOption(option);
  if (options.some(isRemote)) command.addHelpText("after", REMOTE_HINT);
  return command;
}

function formatOptions(): Option[] {
  return [
    new Option("--format <name>", "open SOURCE as this format")
      .choices(formatNames()),
    formatModuleOption(),
    new Option(
      "--ext <ext>",
      "suffix for names that are only numbers, such as jpg",
    ),
    maxRatioOption(),
  ];
}

/** Option that limits what compressed files expand to. */
export function maxRatioOption(): Option {
  return new Option(
    "--max-ratio <n>",
    "refuse a compressed SOURCE that expands to more than N times its size",
  ).argParser(count);
}

/** Option that names format modules. They are registered before parsing (`registerGiven`). */
export function formatModuleOption(): Option {
  return new Option(
    "--format-module <file>",
    "module with a format of your own, for SOURCE",
  ).argParser(collect);
}

const directories = new WeakSet<Argument>();

/** Argument that must be a directory; completion uses this. */
export function directoryArgument(name: string, description: string): Argument {
  const argument = new Argument(name, description);
  directories.add(argument);
  return argument;
}

export function isDirectory(argument: Argument): boolean {
  return directories.has(argument);
}

/** Collects the values of a repeatable option. Completion identifies repeatable options by this function. */
export function collect(
  value: string,
  before: readonly string[] = [],
): readonly string[] {
  return [...before, value];
}

/** Option that names an index file, for commands that take only some samples. */
export function subsetOption(): Option {
  return new Option(
    "--subset <file>",
    "use only the samples in an index file: one index per line, as split writes it",
  );
}

export function generationOption(description: string): Option {
  const option = new Option("--generation <n>", description)
    .choices(["1", "2", "3"]);
  const chosen = option.parseArg!;
  return option.argParser((text) => Number(chosen(text, undefined)));
}

export const count: (text: string) => number = wholeNumberFrom(1);

/** Returns a parser for whole numbers in a range. */
export function wholeNumberFrom(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const number = Number(text);
    const isEnough = /^[0-9]+$/.test(text) && number >= least;
    if (isEnough && number <= most) return number;
    const which = isEnough ? `from ${least} to ${most}` : range(least, most);
    throw new InvalidArgumentError(`It must be a whole number ${which}.`);
  };
}

/** Parses a number of bytes from 1, such as `500M`. */
export function size(text: string): number {
  const bytes = sizeOf(text) ?? 0;
  if (bytes > 0) return bytes;
  throw new InvalidArgumentError(
    "It must be a number of bytes from 1 on, such as 500M or 100G.",
  );
}

/** Returns a parser for comma-separated whole numbers in a range. */
export function wholeNumbersFrom(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number[] {
  const numberOf = wholeNumberFrom(least, most);
  return (text) => {
    try {
      return text.split(",").map((word) => numberOf(word.trim()));
    } catch {
      throw new InvalidArgumentError(
        `It must be a list such as ${least},${least + 1}: whole numbers ${
          range(least, most)
        }.`,
      );
    }
  };
}

function range(least: number, most: number): string {
  return most < Number.MAX_SAFE_INTEGER
    ? `from ${least} to ${most}`
    : `from ${least} on`;
}
