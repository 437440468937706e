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

/** The arguments and flags that an adapter's declared options are on a command line. */
export class AdapterFlags {
  readonly #declared: readonly AdapterOption[];
  readonly #flags = new Map<AdapterOption, Option>();

  /**
   * Adds them to a command.
   *
   * @param isOwn Whether the adapter is the user's own: its flags are called as its options are.
   */
  constructor(
    command: Command,
    declared: readonly AdapterOption[],
    isOwn: boolean,
  ) {
    this.#declared = declared;
    for (const option of declared) {
      if (option.positional === true) command.addArgument(argumentOf(option));
      else {
        const known = isOwn ? undefined : FLAGS[option.name];
        const flag = optionOf(option, known ?? flagOf(option));
        this.#flags.set(option, flag);
        command.addOption(flag);
      }
    }
    if (!isOwn) command.addOption(SHM_DIR);
  }

  /** How many arguments they take by place. */
  get places(): number {
    return this.#declared.length - this.#flags.size;
  }

  /** The flag of each option, for messages. */
  get words(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#flags].map(([{ name }, flag]) => [name, flag.long!]),
    );
  }

  /**
   * The options that a command line gives.
   *
   * @param places Arguments by place.
   * @param given What commander has read.
   */
  options(
    places: readonly string[],
    given: Readonly<Record<string, unknown>>,
  ): AdapterOptions {
    const options: Record<string, AdapterOptionValue> = {};
    let place = 0;
    for (const option of this.#declared) {
      const flag = this.#flags.get(option);
      const value = flag === undefined
        ? parse(places[place++]!, option)
        : given[flag.attributeName()];
      // `--no-x` has the value true where it is not given.
      if (value !== undefined && !(flag?.negate && value === true)) {
        options[option.name] = value as AdapterOptionValue;
      }
    }
    return options;
  }
}

function argumentOf(option: AdapterOption): Argument {
  const argument = new Argument(
    `<${flagOf(option).toLowerCase()}>`,
    lowerFirst(option.description),
  );
  return option.choices === undefined
    ? argument
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
