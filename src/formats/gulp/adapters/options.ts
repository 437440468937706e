/**
 * What adapters say of the options they take, from which a command line makes its arguments and
 * flags.
 *
 * @module
 */
import { localPath } from "../../../io/storage/local_path.ts";

/** What an option can be. */
export type AdapterOptionType =
  | "boolean"
  /** A whole number. */
  | "integer"
  | "number"
  | "string"
  /** A list of strings, `["a", "b"]`; on a command line one word, `a,b`. */
  | "strings";

/** What an option can be given as. */
export type AdapterOptionValue = boolean | number | string | readonly string[];

/** An option of an adapter's constructor, for `static options` of its class. */
export interface AdapterOption {
  /** Its name among the constructor's options, such as `frameSize`. */
  readonly name: string;
  /** What it is. */
  readonly type: AdapterOptionType;
  /** One line, without a full stop. */
  readonly description: string;
  /**
   * Whether a command line takes it by its place rather than by a flag. Such options must be given;
   * they stand in the order of the list, and the output directory follows them.
   */
  readonly positional?: boolean | undefined;
  /** Whether it is the path of a file or directory of this machine, where a URL of another one is refused. */
  readonly isPath?: boolean | undefined;
  /** What it is where it is not given; without it, it has no value then. */
  readonly default?: AdapterOptionValue | undefined;
  /** The only values it may have. */
  readonly choices?: readonly string[] | undefined;
}

/** Plain options, as they are declared: what a thread can be sent. */
export type AdapterOptions = Readonly<
  Record<string, AdapterOptionValue | undefined>
>;

/** The place an option has on a command line: `--frame-size`, or `JSON_FILE` for one by place. */
export function flagOf({ name, positional }: AdapterOption): string {
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return positional === true
    ? words.replaceAll("-", "_").toUpperCase()
    : `--${words}`;
}

/** Options of the originals for which there is nothing to do here. */
const NOT_NEEDED: Record<string, string> = {
  shmDirPath: "frames go through no temporary directory",
};

/** A path that must be given, and stands at its place on a command line. */
export function place(name: string, description: string): AdapterOption {
  return { name, type: "string", positional: true, isPath: true, description };
}

/** An option that has a value where it is not given. */
export function option(
  name: string,
  type: AdapterOptionType,
  otherwise: AdapterOptionValue,
  description: string,
  choices?: readonly string[],
): AdapterOption {
  return { name, type, default: otherwise, description, choices };
}

/** Options with their defaults, and paths where URLs may be given. */
export type Completed<Options> = {
  readonly [Name in keyof Options]: Exclude<Options[Name], URL>;
};

/** Fills in what is declared for options that are not given. */
export function completed<Options extends object>(
  given: Options,
  declared: readonly AdapterOption[],
): Completed<Options> {
  const all: Record<string, unknown> = {};
  for (const option of declared) all[option.name] = option.default;
  const paths = declared.flatMap(({ name, isPath }) => isPath ? [name] : []);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const isPath = value instanceof URL ||
      paths.includes(name) && typeof value === "string";
    all[name] = isPath ? localPath(value) : value;
  }
  return all as Completed<Options>;
}

/** A class that declares its options. */
export interface OptionTaker {
  readonly name: string;
  readonly options: readonly AdapterOption[];
}

/** What every adapter may be told by programs. */
const FOR_ALL: readonly AdapterOption[] = [
  {
    name: "outputFolder",
    type: "string",
    isPath: true,
    description: "Directory of the chunks",
  },
  { name: "withoutIds", type: "strings", description: "Ids to leave out" },
];

/**
 * Checks options that an adapter was given against those that it declares, if it declares any.
 *
 * @throws {TypeError} If one is unknown, missing, or not what it is declared to be.
 */
export function assertOptions(
  { name: adapter, options: declared }: OptionTaker,
  given: object,
): void {
  if (declared.length === 0) return;
  const known = new Map(
    [...declared, ...FOR_ALL].map((option) => [option.name, option]),
  );
  for (const [name, value] of Object.entries(given)) {
    const option = known.get(name);
    if (option === undefined) {
      const why = NOT_NEEDED[name] ??
        `it takes ${declared.map(({ name }) => name).join(", ")}`;
      throw new TypeError(`${adapter} has no option ${name}: ${why}`);
    }
    const { type, choices } = option;
    const [what, isOf] = choices === undefined ? TYPES[type] : [
      `one of ${choices.join(", ")}`,
      (value: unknown) => choices.includes(value as string),
    ];
    if (value !== undefined && !isOf(value)) {
      const given = JSON.stringify(value);
      throw new TypeError(
        `${adapter}: the option ${name} is ${given}, not ${what}`,
      );
    }
  }
  for (const { name, positional } of declared) {
    if (positional === true && Reflect.get(given, name) === undefined) {
      throw new TypeError(`${adapter}: the option ${name} is missing`);
    }
  }
}

/** How each type is called, and what is of it. */
const TYPES: Record<
  AdapterOptionType,
  readonly [name: string, isOf: (value: unknown) => boolean]
> = {
  boolean: ["true or false", (value) => typeof value === "boolean"],
  integer: ["a whole number", Number.isSafeInteger],
  number: ["a number", Number.isFinite],
  string: [
    "a string",
    (value) => typeof value === "string" || value instanceof URL,
  ],
  strings: [
    "a list of strings",
    (value) =>
      Array.isArray(value) && value.every((item) => typeof item === "string"),
  ],
};
