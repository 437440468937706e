import type { Command } from "commander";

/** Messages about how many arguments or values there are. */
const COUNTED =
  /^(missing required argument|too many arguments|required option .* not specified|option .* argument missing)/;

/** What a path may have in it, and an option has not. */
const PATH_LIKE = /[./]/;

/** An argument as usage lines show it: `SOURCE`, `[PATH]`. */
export function argumentText(text: string): string {
  return text.replaceAll(/[<>]/g, "").toUpperCase();
}

/** How a command is called, in a line. */
export function usageLine(command: Command): string {
  const help = command.createHelp();
  return help.styleUsage(help.commandUsage(command));
}

/**
 * What is wrong with a command line, on one line, and what to do.
 *
 * @param text What the parser of options says.
 * @param line The command line.
 */
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
  // Letters before it may have been taken for options.
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
