import type { Command } from "commander";

/** Messages about a wrong number of arguments or values. */
const COUNTED =
  /^(missing required argument|too many arguments|required option .* not specified|option .* argument missing)/;

/** Characters that paths may contain and options do not. */
const PATH_LIKE = /[./]/;

/** Formats an argument for usage lines: `SOURCE`, `[PATH]`. */
export function argumentText(text: string): string {
  return text.replaceAll(/[<>]/g, "").toUpperCase();
}

export function usageLine(command: Command): string {
  const help = command.createHelp();
  return help.styleUsage(help.commandUsage(command));
}

/** Formats an error of the option parser on one line, with a hint. */
export function usageMessage(
  text: string,
  command: Command,
  line: readonly string[],
): string {
  const message = text.trim().replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
  if (COUNTED.test(message)) {
    return `${message.replace(/\.$/, "")}; usage: ${usageLine(command)}`;
  }
  const [, flag] = /^unknown option '-(.*?)'/.exec(message) ?? [];
  // Letters before it may have been parsed as options.
  const given = flag === undefined
    ? undefined
    : line.find((word) => word.startsWith("-") && word.endsWith(flag));
  if (given === undefined || !(PATH_LIKE.test(given) || isThere(given))) {
    return message;
  }
  return `unknown option '${given}'; if it is a path, write -- before it`;
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
