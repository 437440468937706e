import { Argument, InvalidArgumentError, Option } from "commander";
import {
  type AdapterOption,
  type AdapterOptionValue,
  flagOf,
} from "../../../formats/gulp/adapters/options.ts";

/** Flags of the adapters of recordfs that are not called as their options are. */
const FLAGS: Record<string, string> = {
  imgSize: "--frame-size",
  removeDuplicateIds: "--remove-duplicates",
};

/** An option that the originals have, and that has nothing to do here. */
export const SHM_DIR = new Option("--shm-dir, --shm_dir <dir>")
  .hideHelp()
  .argParser(() => {
    throw new InvalidArgumentError(
      "Leave it out: frames go through no temporary directory.",
    );
  });

/** The argument that a declared option is on a command line. */
export function argumentOf(option: AdapterOption): Argument {
  const argument = new Argument(
    `<${flagOf(option).toLowerCase()}>`,
    lowerFirst(option.description),
  );
  return option.choices === undefined
    ? argument.argParser((text) => parse(text, option))
    : argument.choices(option.choices);
}

/**
 * The flag that a declared option is on a command line.
 *
 * @param isOwn Whether the adapter is the user's own: its flags are called as its options are.
 */
export function optionOf(option: AdapterOption, isOwn: boolean): Option {
  const flag = (isOwn ? undefined : FLAGS[option.name]) ?? flagOf(option);
  const { type, choices, default: otherwise } = option;
  const described = lowerFirst(option.description);
  if (type === "boolean") {
    return otherwise === true
      ? new Option(flag.replace("--", "--no-"), `do not: ${described}`)
      : new Option(flag, described);
  }
  const what = { integer: "n", number: "x", string: "text", strings: "list" };
  const shown = otherwise === undefined || otherwise === ""
    ? ""
    : ` (default: ${String(otherwise)})`;
  const made = new Option(`${flag} <${what[type]}>`, `${described}${shown}`);
  return choices === undefined
    ? made.argParser((text) => parse(text, option))
    : made.choices(choices);
}

function parse(text: string, { type }: AdapterOption): AdapterOptionValue {
  switch (type) {
    case "integer":
      if (/^-?[0-9]+$/.test(text)) return Number(text);
      throw new InvalidArgumentError("It is a whole number.");
    case "number":
      if (/[0-9]/.test(text) && Number.isFinite(Number(text))) {
        return Number(text);
      }
      throw new InvalidArgumentError("It is a number.");
    case "strings":
      return text.split(",");
    case "boolean":
      if (text === "true" || text === "false") return text === "true";
      throw new InvalidArgumentError("It is true or false.");
    case "string":
      return text;
  }
}

/** As the other commands' descriptions are. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text)
    ? text[0]!.toLowerCase() + text.slice(1)
    : text;
}
