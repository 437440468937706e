import { Argument, type Command, type Option } from "commander";
import { collect, isDirectory } from "../input/options.ts";
import { isRemote } from "../input/remote_options.ts";

/** What an argument, or the value of an option, is completed with. */
export type ArgumentKind = "file" | "directory" | "nothing" | "choices";

/** What arguments and values of these names hold; the shell knows nothing of paths inside a container. */
const KINDS: Record<string, ArgumentKind> = {
  source: "file",
  mountpoint: "directory",
  dir: "directory",
  file: "file",
  target: "file",
  path: "nothing",
  spec: "file",
};

/** The options of a command; of one that has commands of its own, those of all of them. */
export function optionsOf(command: Command): Option[] {
  const all = [command, ...command.commands].flatMap((one) => [
    ...one.createHelp().visibleOptions(one),
    ...one.options.filter(isRemote),
  ]);
  return all.filter(({ long }, i) =>
    all.findIndex((option) => option.long === long) === i
  );
}

/** The arguments of a command; where it has commands of its own, the first is which. */
export function argumentsOf(command: Command): readonly Argument[] {
  const names = command.commands.map((one) => one.name());
  return names.length === 0 ? command.registeredArguments : [
    new Argument("<command>").choices(names),
    new Argument("<file...>"),
  ];
}

/** What completes an argument, or the value of an option, whose flags are spelled as in `-o, --options <list>`. */
export function kindOf(given: Argument | Option): ArgumentKind {
  if (choicesOf(given).length > 0) return "choices";
  if (given instanceof Argument && isDirectory(given)) return "directory";
  const name = given instanceof Argument
    ? given.name()
    : /<(.+)>/.exec(given.flags)?.[1];
  return KINDS[name ?? ""] ?? "nothing";
}

/** The values that it can have, where they are few. */
export function choicesOf(
  { argChoices }: Argument | Option,
): readonly string[] {
  return argChoices ?? [];
}

/** Whether an option has a value. */
export function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Whether an option may be given many times. */
export function isRepeatable({ parseArg }: Option): boolean {
  return parseArg === collect;
}

/** The spellings of an option, with their dashes. */
export function spellingsOf({ short, long }: Option): string[] {
  return short === undefined ? [long!] : [short, long!];
}
