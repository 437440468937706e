import { Argument, type Command, type Option } from "commander";
import { collect, isDirectory } from "../input/options.ts";
import { isRemote } from "../input/remote_options.ts";

/** How to complete an argument, or the value of an option. */
export type ArgumentKind = "file" | "directory" | "nothing" | "choices";

/** Kinds by name. A `path` is not completed, since the shell does not know paths inside a container. */
const KINDS: Record<string, ArgumentKind> = {
  source: "file",
  mountpoint: "directory",
  dir: "directory",
  file: "file",
  target: "file",
  path: "nothing",
  spec: "file",
};

/** Options of a command and of its subcommands. */
export function optionsOf(command: Command): Option[] {
  const all = [command, ...command.commands].flatMap((one) => [
    ...one.createHelp().visibleOptions(one),
    ...one.options.filter(isRemote),
  ]);
  return all.filter(({ long }, i) =>
    all.findIndex((option) => option.long === long) === i
  );
}

/** Arguments of a command. If it has subcommands, the first argument is their name. */
export function argumentsOf(command: Command): readonly Argument[] {
  const names = command.commands.map((one) => one.name());
  return names.length === 0 ? command.registeredArguments : [
    new Argument("<command>").choices(names),
    new Argument("<file...>"),
  ];
}

/** Returns how to complete an argument, or the value of an option with flags such as `-o, --options <list>`. */
export function kindOf(given: Argument | Option): ArgumentKind {
  if (choicesOf(given).length > 0) return "choices";
  if (given instanceof Argument && isDirectory(given)) return "directory";
  const name = given instanceof Argument
    ? given.name()
    : /<(.+)>/.exec(given.flags)?.[1];
  return KINDS[name ?? ""] ?? "nothing";
}

export function choicesOf(
  { argChoices }: Argument | Option,
): readonly string[] {
  return argChoices ?? [];
}

/** Whether the word after an option is its value. An optional value follows only after `=`. */
export function takesValue({ required }: Option): boolean {
  return required;
}

export function isRepeatable({ parseArg }: Option): boolean {
  return parseArg === collect;
}

/** Spellings of an option, with their dashes. */
export function spellingsOf({ short, long }: Option): string[] {
  return short === undefined ? [long!] : [short, long!];
}
