import { Argument, InvalidArgumentError, Option } from "commander";
import {
  type AdapterOption,
  flagOf,
} from "../../../formats/gulp/adapters/options.ts";

/** Flags of built-in adapters that differ from the option names. */
const FLAGS: Record<string, string> = {
  imgSize: "--frame-size",
  removeDuplicateIds: "--remove-duplicates",
};

/** An option of GulpIO that has no use here. */
export const SHM_DIR = new Option("--shm-dir, --shm_dir <dir>")
  .hideHelp()
  .argParser(() => {
    throw new InvalidArgumentError(
      "Remove it: frames need no temporary directory.",
    );
  });

export function argumentOf(option: AdapterOption): Argument {
  const argument = new Argument(
    `<${flagOf(option).toLowerCase()}>`,
    lowerFirst(option.description),
  );
  return option.choices === undefined
    ? argument.argParser((text) => parse(text, option))
    : argument.choices(option.choices);
}

/** Creates the flag of a declared option. Flags of the user's own adapter are named like its options. */
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

function parse(
  text: string,
  { type }: AdapterOption,
): AdapterOption["default"] {
  switch (type) {
    case "integer":
      if (/^-?[0-9]+$/.test(text)) return Number(text);
      throw new InvalidArgumentError("It must be a whole number.");
    case "number":
      if (/[0-9]/.test(text) && Number.isFinite(Number(text))) {
        return Number(text);
      }
      throw new InvalidArgumentError("It must be a number.");
    case "strings":
      return text.split(",");
    case "boolean":
      if (text === "true" || text === "false") return text === "true";
      throw new InvalidArgumentError("It must be true or false.");
    case "string":
      return text;
  }
}

/** Lower-cases the first letter, as in the descriptions of other commands. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text)
    ? text[0]!.toLowerCase() + text.slice(1)
    : text;
}
