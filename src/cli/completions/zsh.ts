import type {
  ArgumentKind,
  CompletedArgument,
  CompletedCommand,
  CompletedOption,
} from "./model.ts";

/** The completion script for zsh: to be sourced, or kept as `_recordfs` in a directory of `$fpath`. */
export function zshCompletions(commands: CompletedCommand[]): string {
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
    commands.map(({ name, description }) =>
      `        ${quote(`${name}:${description}`)}`
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

function commandCase({ name, options, arguments: args }: CompletedCommand) {
  const specs = [
    ...options.map(optionSpec),
    ...args.map((argument, i) => quote(argumentSpec(argument, i + 1))),
  ];
  return `        ${name})
          _arguments ${specs.join(" \\\n            ")} ;;`;
}

function optionSpec(option: CompletedOption): string {
  const { short, long, description, takesValue, repeatable, kind, choices } =
    option;
  const value = takesValue ? `:value:${action(kind, choices)}` : "";
  const text = `[${description.replaceAll(/[[\]:\\]/g, "\\$&")}]${value}`;
  const equals = takesValue ? "=" : "";
  const star = repeatable ? "*" : "";
  if (short === undefined) return quote(`${star}${long}${equals}${text}`);
  const group = quote(star || `(${short} ${long})`);
  return `${group}{${short},${long}${equals}}${quote(text)}`;
}

function argumentSpec(
  { name, kind, choices, variadic }: CompletedArgument,
  position: number,
): string {
  return `${variadic ? "*" : position}:${name}:${action(kind, choices)}`;
}

function action(kind: ArgumentKind, choices: readonly string[]): string {
  return {
    file: "_files",
    directory: "_files -/",
    nothing: " ",
    choices: `(${choices.join(" ")})`,
  }[kind];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
