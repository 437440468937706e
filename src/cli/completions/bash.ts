import type { Argument, Command, Option } from "commander";
import {
  argumentsOf,
  choicesOf,
  kindOf,
  optionsOf,
  spellingsOf,
  takesValue,
} from "./model.ts";

/**
 * Completion script for bash. It needs no function of the bash-completion package, and never evaluates what the user
 * has typed.
 */
export function bashCompletions(commands: readonly Command[]): string {
  const valued = valueOptions(commands);
  const spellings = [...valued.keys()].join("|");
  return `# bash completion for recordfs
_recordfs() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local command= position=0 words= kind=nothing i word
  COMPREPLY=()
  # bash takes --option=value apart into three words.
  if [[ $cur == = ]]; then cur=
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      ${spellings}) ((i++)); [[ \${COMP_WORDS[i]} == = ]] && ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=$word; else ((position++)); fi ;;
    esac
  done
  case $prev in
${
    [...valued].map(([spelling, option]) =>
      `    ${spelling}) ${valueCase(option)}; return ;;`
    ).join("\n")
  }
  esac
  case $command in
    '') words='${
    commands.map((command) => command.name()).join(" ")
  } --help --version' ;;
${commands.map(commandCase).join("\n")}
  esac
  if [[ -n $command && $cur != -* ]]; then
    case $kind in
      file) compopt -o default; return ;;
      directory) compopt -o dirnames; return ;;
      nothing) return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _recordfs recordfs
`;
}

function valueOptions(commands: readonly Command[]): Map<string, Option> {
  const options = commands.flatMap(optionsOf).filter(takesValue);
  return new Map(
    options.flatMap((option) =>
      spellingsOf(option).map((spelling) => [spelling, option])
    ),
  );
}

function valueCase(option: Option): string {
  const kind = kindOf(option);
  if (kind === "file") return "compopt -o default";
  if (kind === "directory") return "compopt -o dirnames";
  return `COMPREPLY=($(compgen -W '${choicesOf(option).join(" ")}' -- "$cur"))`;
}

function commandCase(command: Command): string {
  const kinds = argumentsOf(command).map((argument, i) =>
    `        ${i}${argument.variadic ? "|*" : ""}) ${
      argumentCase(argument)
    } ;;\n`
  );
  const positions = kinds.length === 0
    ? ""
    : `\n      [[ $cur == -* ]] || case $position in\n${
      kinds.join("")
    }      esac`;
  return `    ${command.name()})
      words='${
    optionsOf(command).flatMap(spellingsOf).join(" ")
  }'${positions} ;;`;
}

function argumentCase(argument: Argument): string {
  const words = choicesOf(argument).join(" ");
  return `kind=${kindOf(argument)}${words === "" ? "" : ` words='${words}'`}`;
}
