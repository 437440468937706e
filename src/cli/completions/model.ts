import type { Command } from "commander";

/** An option as completion scripts need it. */
export interface CompletedOption {
  /** With its dash, as in `-l`. */
  readonly short: string | undefined;
  /** With its dashes. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** The values it can have, where they are few. */
  readonly choices: readonly string[];
}

/** What an argument is completed with. */
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

/** What arguments of these names hold; the shell knows nothing of paths inside a container. */
const KINDS: Record<string, ArgumentKind> = {
  source: "file",
  mountpoint: "directory",
  dir: "directory",
  path: "nothing",
};

/** Describes all commands of the program. */
export function describeProgram(program: Command): CompletedCommand[] {
  const help = program.createHelp();
  return help.visibleCommands(program).map((command) => ({
    name: command.name(),
    description: command.description(),
    options: help.visibleOptions(command).map((option) => ({
      short: option.short,
      long: option.long!,
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    arguments: command.registeredArguments.map((argument) => {
      const choices = argument.argChoices ?? [];
      const name = argument.name();
      const kind = choices.length > 0 ? "choices" : KINDS[name] ?? "nothing";
      return { name, kind, choices, variadic: argument.variadic };
    }),
  }));
}

/** The options that take a value, by all their spellings. */
export function valueOptions(
  commands: readonly CompletedCommand[],
): { spelling: string; choices: readonly string[] }[] {
  const found = new Map<string, readonly string[]>();
  for (const { options } of commands) {
    for (const { short, long, takesValue, choices } of options) {
      if (!takesValue) continue;
      found.set(long, choices);
      if (short !== undefined) found.set(short, choices);
    }
  }
  return [...found].map(([spelling, choices]) => ({ spelling, choices }));
}
