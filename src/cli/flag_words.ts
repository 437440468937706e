/**
 * Options of the library, as its messages name them in backticks (the option `lossy`, the option `checkData: false`),
 * with their command-line flags.
 */
const WORDS: ReadonlyMap<string, string> = new Map([
  ...("decoded endpoint ext extend format from generation lossy parts resume shardLength shardSize " +
    "shardStart spec subset timeout to videosPerChunk").split(" ")
    .map((name): [string, string] => [name, flagCalled(name)]),
  ["checkData: false", "--no-verify"],
  ["verify: false", "--no-verify"],
  ["imgSize", "--frame-size"],
  ["nonEmpty", "-o nonempty"],
  ["removeDuplicateIds", "--remove-duplicates"],
  ["replace", "--force"],
]);

/** Terms that are not options. */
const OTHERS: Readonly<Record<string, string>> = {
  "`check()`": "`recordfs check`",
  "`FFRecordReader`": "--format ffrecord-samples",
};

/** Flags of commands that name an option differently, or lack one and refer to another command. */
const OWN_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  convert: {
    from: "--format",
    "checkData: false": "`recordfs extract --no-verify`",
    "verify: false": "`recordfs extract --no-verify`",
  },
};

const OPTION = /\b(?:[Tt]he )?option `(\w+)(: [^`]+)?`/g;
const OTHER = new RegExp(
  Object.keys(OTHERS).join("|").replace(/[()]/g, "\\$&"),
  "g",
);

/** Converts options in a message of the library to flags; `words` overrides the usual ones. */
export function inFlags(
  message: string,
  words: Readonly<Record<string, string>> = {},
): string {
  if (!message.includes("`")) return message;
  return message
    .replaceAll(OPTION, (found, name: string, value = "") => {
      const negated = `${name}${value}`;
      const whole = value === ""
        ? undefined
        : words[negated] ?? WORDS.get(negated);
      if (whole !== undefined) return whole;
      const flag = words[name] ?? WORDS.get(name);
      return flag === undefined ? found : `${flag}${shownValue(value)}`;
    })
    .replaceAll(OTHER, (found) => OTHERS[found]!);
}

/** Like {@linkcode inFlags}, with the flags of one command. */
export function inFlagsOf(message: string, command: string): string {
  const isOne = Object.hasOwn(OWN_WORDS, command);
  return inFlags(message, isOne ? OWN_WORDS[command] : undefined);
}

/** `: "gulp"` becomes the value `gulp`; `: true` becomes empty. */
function shownValue(value: string): string {
  const text = value.slice(": ".length).replaceAll('"', "");
  return text === "" || text === "true" ? "" : ` ${text}`;
}

/** `shardSize` becomes `--shard-size`. */
function flagCalled(name: string): string {
  return `--${
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  }`;
}
