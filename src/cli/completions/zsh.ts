import type { Argument, Command, Option } from "commander";
import {
  argumentsOf,
  choicesOf,
  isRepeatable,
  kindOf,
  optionsOf,
  spellingsOf,
  takesValue,
} from "./model.ts";

/** Completion script for zsh, to be sourced, or installed as `_recordfs` in a directory of `$fpath`. */
export function zshCompletions(commands: readonly Command[]): string {
  return `#compdef recordfs
_recordfs() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \\
    '(- *)'{-h,--help}'[display help]' \\
    '(- *)'{-V,--version}'[output the version]' \\
    '1: :->command' \\
    '*:: :->arguments' && return
  case $state in
    command)
      local -a commands=(
${
    commands.map((command) =>
      `        ${quote(`${command.name()}:${command.description()}`)}`
    ).join("\n")
  }
      )
      _describe command commands ;;
    arguments)
      case $words[1] in
${commands.map(commandCase).join("\n")}
      esac ;;
  esac
}
if [[ $funcstack[1] == _recordfs ]]; then
  _recordfs "$@"
else
  compdef _recordfs recordfs
fi
`;
}

function commandCase(command: Command): string {
  const specs = [
    ...optionsOf(command).map(optionSpec),
    ...argumentsOf(command).map(argumentSpec),
  ];
  return `        ${command.name()})
          _arguments ${specs.join(" \\\n            ")} ;;`;
}

function optionSpec(option: Option): string {
  const value = takesValue(option) ? `:value:${action(option)}` : "";
  const equals = value === "" ? "" : "=";
  const text = `[${
    option.description.replaceAll(/[[\]:\\]/g, "\\$&")
  }]${value}`;
  const star = isRepeatable(option) ? "*" : "";
  const [first, long] = spellingsOf(option);
  if (long === undefined) return quote(`${star}${first}${equals}${text}`);
  const group = quote(star || `(${first} ${long})`);
  return `${group}{${first},${long}${equals}}${quote(text)}`;
}

function argumentSpec(argument: Argument, i: number): string {
  const position = argument.variadic ? "*" : i + 1;
  return quote(`${position}:${argument.name()}:${action(argument)}`);
}

function action(given: Argument | Option): string {
  return {
    file: "_files",
    directory: "_files -/",
    nothing: " ",
    choices: `(${choicesOf(given).join(" ")})`,
  }[kindOf(given)];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
