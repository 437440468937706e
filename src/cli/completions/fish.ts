import type { Command, Option } from "commander";
import {
  argumentsOf,
  choicesOf,
  kindOf,
  optionsOf,
  takesValue,
} from "./model.ts";

export function fishCompletions(commands: readonly Command[]): string {
  return [
    "# fish completion for recordfs",
    "complete -c recordfs -e",
    complete("__fish_use_subcommand", "-f"),
    complete("__fish_use_subcommand", "-s h -l help -d 'display help'"),
    complete(
      "__fish_use_subcommand",
      "-s V -l version -d 'output the version'",
    ),
    ...commands.map((command) =>
      complete(
        "__fish_use_subcommand",
        `-f -a ${command.name()} -d ${quote(command.description())}`,
      )
    ),
    ...commands.flatMap(commandLines),
    "",
  ].join("\n");
}

function commandLines(command: Command): string[] {
  const seen = `__fish_seen_subcommand_from ${command.name()}`;
  const lines = optionsOf(command)
    .map((option) => complete(seen, optionSpec(option)));
  const args = argumentsOf(command);
  const kinds = new Set(args.map(kindOf));
  if (kinds.has("choices")) {
    const choices = args.flatMap(choicesOf).join(" ");
    const files = kinds.has("file") ? "-F" : "-f";
    lines.push(complete(seen, `${files} -a ${quote(choices)}`));
  } else if (kinds.has("file")) {
    lines.push(complete(seen, "-F"));
  } else if (kinds.has("directory")) {
    lines.push(complete(seen, "-f -a '(__fish_complete_directories)'"));
  } else lines.push(complete(seen, "-f"));
  return lines;
}

function optionSpec(option: Option): string {
  const { short, long, description } = option;
  const kind = kindOf(option);
  const choices = choicesOf(option);
  const parts = [`-l ${long!.slice(2)}`];
  if (short !== undefined) parts.unshift(`-s ${short.slice(1)}`);
  if (takesValue(option)) parts.push(kind === "file" ? "-r -F" : "-x");
  if (kind === "directory") parts.push("-a '(__fish_complete_directories)'");
  if (choices.length > 0) parts.push(`-a ${quote(choices.join(" "))}`);
  return `${parts.join(" ")} -d ${quote(description)}`;
}

function complete(condition: string, rest: string): string {
  return `complete -c recordfs -n '${condition}' ${rest}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}
