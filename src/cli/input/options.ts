import {
  Argument,
  type Command,
  InvalidArgumentError,
  Option,
} from "commander";
import { formatNames } from "../../formats/registry.ts";
import { sizeOf } from "../../base/size_text.ts";
import { SHOWN } from "../messages.ts";
import type { RemoteFlags } from "./remote_flags.ts";
import { isRemote, REMOTE_HINT, remoteOptions } from "./remote_options.ts";

/** Values of the options that several commands have; each has some of them. */
export interface CommonOptions extends RemoteFlags {
  readonly all?: true | undefined;
  readonly format?: string | undefined;
  readonly ext?: string | undefined;
  readonly decoded?: true | undefined;
  /** Further containers. */
  readonly add?: readonly string[] | undefined;
  /** The directory that is taken for the root. */
  readonly prefix?: string | undefined;
  /** False after `--no-verify`. */
  readonly verify?: boolean | undefined;
  readonly force?: true | undefined;
  readonly json?: true | undefined;
}

/** These options by group. */
const GROUPS = {
  /** Of commands that open a container. */
  format: formatOptions,
  /** Of commands that open a container, which a URL may name. */
  source: () => [...formatOptions(), ...remoteOptions(collect)],
  /** Of commands that open a container in a way of their own, which a URL may name. */
  remote: () => remoteOptions(collect),
  /** Of commands that print a line for each finding. */
  all: () => [
    new Option(
      "--all",
      `show every warning and fault, not only the first ${SHOWN}`,
    ),
  ],
  /** Of commands that show a tree as a mount does. */
  tree: () => [
    new Option(
      "--add <source>",
      "show another container in the same tree: each, SOURCE as well, in a directory of its name, or in " +
        "PATH of SOURCE=PATH",
    ).argParser(collect),
    new Option("--prefix <path>", "take only what is in this directory"),
  ],
  /** Of commands that show paths or content. */
  decoded: () => [
    new Option(
      "--decoded",
      "show values of datasets decoded as well: foo.json, foo.npy, foo.txt beside foo",
    ),
  ],
  /** Of commands that read content. */
  verify: () => [new Option("--no-verify", "do not compare checksums")],
  /** Of commands that write files. */
  written: () => [
    new Option("-f, --force", "replace a file that is there already"),
    new Option("--json", "say what was written as JSON"),
  ],
};

/** Adds groups of options, which the help shows in this order. */
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
    new Option("--format <name>", "take SOURCE for this format")
      .choices(formatNames()),
    formatModuleOption(),
    new Option(
      "--ext <ext>",
      "suffix for names that are only numbers, as in jpg",
    ),
  ];
}

/** The option that names modules of formats; they are registered before (`registerGiven`). */
export function formatModuleOption(): Option {
  return new Option(
    "--format-module <file>",
    "a module of a format of your own, which SOURCE may be of",
  ).argParser(collect);
}

const directories = new WeakSet<Argument>();

/** An argument that is a directory and nothing else, which completion goes by. */
export function directoryArgument(name: string, description: string): Argument {
  const argument = new Argument(name, description);
  directories.add(argument);
  return argument;
}

/** Whether an argument was made by {@linkcode directoryArgument}. */
export function isDirectory(argument: Argument): boolean {
  return directories.has(argument);
}

/** Collects the values of an option that may be given many times; completion knows it by this. */
export function collect(
  value: string,
  before: readonly string[] = [],
): readonly string[] {
  return [...before, value];
}

/** The option that says which generation of bags is written. */
export function generationOption(description: string): Option {
  const option = new Option("--generation <n>", description)
    .choices(["1", "2", "3"]);
  const chosen = option.parseArg!;
  return option.argParser((text) => Number(chosen(text, undefined)));
}

/** Reads the value of an option that is a whole number from 1 on. */
export const count: (text: string) => number = wholeNumberFrom(1);

/** Reads the value of an option that is a whole number. */
export function wholeNumberFrom(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const number = Number(text);
    const isEnough = /^[0-9]+$/.test(text) && number >= least;
    if (isEnough && number <= most) return number;
    const which = isEnough ? `from ${least} to ${most}` : range(least, most);
    throw new InvalidArgumentError(`It is a whole number ${which}.`);
  };
}

/** Reads the value of an option that is a number of bytes, as in `500M`. */
export function size(text: string): number {
  const bytes = sizeOf(text) ?? 0;
  if (bytes > 0) return bytes;
  throw new InvalidArgumentError(
    "It is a number of bytes from 1 on, as in 500M or 100G.",
  );
}

/** Reads the value of an option that is a list of whole numbers. */
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
        `It is a list such as ${least},${least + 1}: whole numbers ${
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
