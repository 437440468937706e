import type { Command } from "commander";
import { collect } from "../input/options.ts";

/** An option as completion scripts need it. */
export interface CompletedOption {
  /** With its dash, as in `-l`. */
  readonly short: string | undefined;
  /** With its dashes. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly repeatable: boolean;
  readonly kind: ArgumentKind;
  /** The values it can have, where they are few. */
  readonly choices: readonly string[];
}

/** What an argument, or the value of an option, is completed with. */
export type ArgumentKind = "file" | "directory" | "nothing" | "choices";

/** An argument as completion scripts need it. */
export interface CompletedArgument {
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly choices: readonly string[];
  /** Whether any number of further ones may follow. */
  readonly variadic: boolean;
}

/** A command as completion scripts need it. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly CompletedArgument[];
}

/** What arguments and values of these names hold; the shell knows nothing of paths inside a container. */
const KINDS: Record<string, ArgumentKind> = {
  source: "file",
  mountpoint: "directory",
  dir: "directory",
  file: "file",
  out: "file",
  path: "nothing",
  spec: "file",
};

/** Describes all commands of the program. */
export function describeProgram(program: Command): CompletedCommand[] {
  return program.createHelp().visibleCommands(program).map((command) => ({
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
    arguments: argumentsOf(command),
  }));
}

/** The options of a command; of one that has commands of its own, those of all of them. */
function optionsOf(command: Command): CompletedOption[] {
  const all = [command, ...command.commands].flatMap((one) =>
    one.createHelp().visibleOptions(one)
  );
  const first = new Map(
    all.toReversed().map((option) => [option.long, option]),
  );
  return [...new Set(all.map(({ long }) => first.get(long)!))].map((
    option,
  ) => ({
    short: option.short,
    long: option.long!,
    description: option.description,
    takesValue: option.required || option.optional,
    repeatable: option.parseArg === collect,
    // Its flags are spelled as in `-o, --options <list>`.
    ...completionOf(/<(.+)>/.exec(option.flags)?.[1], option.argChoices),
  }));
}

/** The arguments of a command; where it has commands of its own, the first is which. */
function argumentsOf(command: Command): CompletedArgument[] {
  if (command.commands.length > 0) {
    const choices = command.commands.map((one) => one.name());
    return [
      { name: "command", kind: "choices", choices, variadic: false },
      { name: "file", kind: "file", choices: [], variadic: true },
    ];
  }
  return command.registeredArguments.map((argument) => ({
    name: argument.name(),
    ...completionOf(argument.name(), argument.argChoices),
    variadic: argument.variadic,
  }));
}

function completionOf(
  name: string | undefined,
  choices: readonly string[] = [],
): { kind: ArgumentKind; choices: readonly string[] } {
  if (choices.length > 0) return { kind: "choices", choices };
  return { kind: KINDS[name ?? ""] ?? "nothing", choices };
}

/** The options that take a value, by all their spellings. */
export function valueOptions(
  commands: readonly CompletedCommand[],
): { spelling: string; option: CompletedOption }[] {
  const found = new Map<string, CompletedOption>();
  for (const option of commands.flatMap(({ options }) => options)) {
    if (!option.takesValue) continue;
    found.set(option.long, option);
    if (option.short !== undefined) found.set(option.short, option);
  }
  return [...found].map(([spelling, option]) => ({ spelling, option }));
}
