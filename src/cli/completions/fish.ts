import type { CompletedCommand, CompletedOption } from "./model.ts";

/** The completion script for fish. */
export function fishCompletions(commands: CompletedCommand[]): string {
  return [
    "# fish completion for recordfs",
    "complete -c recordfs -e",
    complete("__fish_use_subcommand", "-f"),
    complete("__fish_use_subcommand", "-s h -l help -d 'display help'"),
    complete(
      "__fish_use_subcommand",
      "-s V -l version -d 'output the version'",
    ),
    ...commands.map(({ name, description }) =>
      complete(
        "__fish_use_subcommand",
        `-f -a ${name} -d ${quote(description)}`,
      )
    ),
    ...commands.flatMap(commandLines),
    "",
  ].join("\n");
}

function commandLines(
  { name, options, arguments: args }: CompletedCommand,
): string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  const lines = options.map((option) => complete(seen, optionSpec(option)));
  const kinds = new Set(args.map(({ kind }) => kind));
  if (kinds.has("choices")) {
    const choices = args.flatMap(({ choices }) => choices).join(" ");
    const files = kinds.has("file") ? "-F" : "-f";
    lines.push(complete(seen, `${files} -a ${quote(choices)}`));
  } else if (kinds.has("file")) {
    lines.push(complete(seen, "-F"));
  } else if (kinds.has("directory")) {
    lines.push(complete(seen, "-f -a '(__fish_complete_directories)'"));
  } else lines.push(complete(seen, "-f"));
  return lines;
}

function optionSpec(
  { short, long, description, takesValue, kind, choices }: CompletedOption,
): string {
  const parts = [`-l ${long.slice(2)}`];
  if (short !== undefined) parts.unshift(`-s ${short.slice(1)}`);
  if (takesValue) parts.push(kind === "file" ? "-r -F" : "-x");
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
