/**
 * Declared options of adapters, from which a command line makes its arguments and flags.
 *
 * @module
 */
import { localPath } from "../../../io/storage/local_path.ts";

/** Option of an adapter's constructor, for `static options` of its class. */
export interface AdapterOption {
  /** Name among the constructor's options, such as `frameSize`. */
  readonly name: string;
  /** Type of the value. `strings` is a list of strings, `["a", "b"]`, on a command line one word, `a,b`. */
  readonly type: "boolean" | "integer" | "number" | "string" | "strings";
  /** One line, without a full stop. */
  readonly description: string;
  /**
   * Whether a command line takes it as a positional argument instead of a flag. Positional options are required; they
   * come in the order of the list, before the output directory.
   */
  readonly positional?: boolean | undefined;
  /** Whether it is a local path; URLs of other machines are rejected. */
  readonly isPath?: boolean | undefined;
  /** Default value; without it, an option that is not given stays undefined. */
  readonly default?: boolean | number | string | readonly string[] | undefined;
  /** Allowed values. */
  readonly choices?: readonly string[] | undefined;
}

/** Plain options, as declared, which can be sent to a thread. */
export type AdapterOptions = Readonly<
  Record<string, AdapterOption["default"]>
>;

/** Returns an option as a command line has it: `--frame-size`, or `JSON_FILE` if positional. */
export function flagOf({ name, positional }: AdapterOption): string {
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return positional === true
    ? words.replaceAll("-", "_").toUpperCase()
    : `--${words}`;
}

/** Options of the original libraries that have no effect here. */
const NOT_NEEDED: Record<string, string> = {
  shmDirPath: "frames go through no temporary directory",
};

/** Declares a required path, positional on a command line. */
export function place(name: string, description: string): AdapterOption {
  return { name, type: "string", positional: true, isPath: true, description };
}

/** Declares an option with a default value. */
export function option(
  name: string,
  type: AdapterOption["type"],
  otherwise: AdapterOption["default"],
  description: string,
  choices?: readonly string[],
): AdapterOption {
  return { name, type, default: otherwise, description, choices };
}

/** Options with their defaults, and paths instead of URLs. */
export type Completed<Options> = {
  readonly [Name in keyof Options]: Exclude<Options[Name], URL>;
};

/** Adds the declared defaults and converts URLs to paths. */
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

/** Options of an adapter, with their defaults, and paths instead of URLs. */
export type OptionsOf<Adapter extends new (...args: never[]) => unknown> =
  Completed<ConstructorParameters<Adapter>[0]>;

/** A class that declares its options. */
export interface OptionTaker {
  readonly name: string;
  readonly options: readonly AdapterOption[];
}

/** Options that programs may give to every adapter. */
const FOR_ALL: readonly AdapterOption[] = [
  {
    name: "outputFolder",
    type: "string",
    isPath: true,
    description: "Directory of the chunks",
  },
  { name: "withoutIds", type: "strings", description: "Ids to skip" },
];

/**
 * Checks an adapter's options against those it declares, if it declares any.
 *
 * @throws {TypeError} If an option is unknown, missing, or not of its declared type.
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
        `The option ${name} of ${adapter} must be ${what}, not ${given}`,
      );
    }
  }
  for (const { name, positional } of declared) {
    if (positional === true && Reflect.get(given, name) === undefined) {
      throw new TypeError(`The option ${name} of ${adapter} is missing`);
    }
  }
}

/** Name and test of each type. */
const TYPES: Record<
  AdapterOption["type"],
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
