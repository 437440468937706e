import {
  Argument,
  type Command,
  InvalidArgumentError,
  Option,
} from "commander";
import {
  type AdapterOption,
  type AdapterOptions,
  type AdapterOptionValue,
  flagOf,
} from "../../../formats/gulp/adapters/options.ts";

/** Flags of the adapters of recordfs that are not called as their options are. */
const FLAGS: Record<string, string> = {
  imgSize: "--frame-size",
  removeDuplicateIds: "--remove-duplicates",
};

/** An option that the originals have, and that has nothing to do here. */
const SHM_DIR = new Option("--shm-dir, --shm_dir <dir>")
  .hideHelp()
  .argParser(() => {
    throw new InvalidArgumentError(
      "Leave it out: frames go through no temporary directory.",
    );
  });

/** What an adapter's declared options are on a command line. */
export interface AdapterFlags {
  /** How many arguments they take by place. */
  readonly places: number;
  /** The flag of each option, for messages. */
  readonly words: Readonly<Record<string, string>>;
  /**
   * The options that a command line gives.
   *
   * @param places Arguments by place.
   * @param given What commander has read.
   */
  options(
    places: readonly unknown[],
    given: Readonly<Record<string, unknown>>,
  ): AdapterOptions;
}

/**
 * Adds the arguments and flags to a command that an adapter's declared options are.
 *
 * @param isOwn Whether the adapter is the user's own: its flags are called as its options are.
 */
export function addAdapterFlags(
  command: Command,
  declared: readonly AdapterOption[],
  isOwn: boolean,
): AdapterFlags {
  const placed = declared.filter(({ positional }) => positional === true);
  const flags = declared.filter((option) => !placed.includes(option))
    .map((option): [string, Option] => {
      const known = isOwn ? undefined : FLAGS[option.name];
      return [option.name, optionOf(option, known ?? flagOf(option))];
    });
  for (const option of placed) command.addArgument(argumentOf(option));
  for (const [, flag] of flags) command.addOption(flag);
  if (!isOwn) command.addOption(SHM_DIR);
  return {
    places: placed.length,
    words: Object.fromEntries(flags.map(([name, { long }]) => [name, long!])),
    options(places, given) {
      const values = [
        ...placed.map(({ name }, i) => [name, places[i]]),
        // `--no-x` has the value true where it is not given.
        ...flags.map(([name, flag]) => [name, given[flag.attributeName()]])
          .filter(([, value], i) => !(flags[i]![1].negate && value === true)),
      ];
      return Object.fromEntries(
        values.filter(([, value]) => value !== undefined),
      );
    },
  };
}

function argumentOf(option: AdapterOption): Argument {
  const argument = new Argument(
    `<${flagOf(option).toLowerCase()}>`,
    lowerFirst(option.description),
  );
  return option.choices === undefined
    ? argument.argParser((text) => parse(text, option))
    : argument.choices(option.choices);
}

function optionOf(option: AdapterOption, flag: string): Option {
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
