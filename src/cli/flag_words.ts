import {
  type NamedOption,
  optionsNamedBy,
  optionText,
} from "../base/named_option.ts";
import { messageOf } from "../base/message_text.ts";

/** Flags of the library's options, by name, or by name and value where that selects the flag. */
const FLAGS: Readonly<Record<string, string>> = {
  ...flagsNamedLike(
    "decoded ext extend format from generation lossy maxRatio nested parts port resume rowGroup shardLength shardSize " +
      "shardStart spec stripSuffix subset timeout to videosPerChunk",
  ),
  "checkData: false": "--no-verify",
  "verify: false": "--no-verify",
  "cache: false": "--no-cache",
  "cache.directory": "--cache-dir",
  "cache.shared": "--cache-shared",
  "cache.size": "--cache-size",
  "s3.anonymous": "--anonymous",
  "s3.endpoint": "--endpoint",
  "s3.requesterPays": "--requester-pays",
  allowHosts: "--allow-host",
  caCert: "--cacert",
  headers: "--header",
  hostname: "--host",
  imgSize: "--frame-size",
  nonEmpty: "-o nonempty",
  output: "--output",
  removeDuplicateIds: "--remove-duplicates",
  replace: "--force",
};

/** Flags of commands that name an option differently, or lack one and refer to another command. */
const OWN_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  convert: {
    from: "--format",
    "checkData: false": "`recordfs extract --no-verify`",
    "verify: false": "`recordfs extract --no-verify`",
  },
};

/** Names the flags of `options` in a message that names these; `own` overrides the usual flags. */
export function inFlags(
  message: string,
  options: readonly NamedOption[] = [],
  own: Readonly<Record<string, string>> = {},
): string {
  let shown = message;
  for (const option of options) {
    const text = optionText(option);
    shown = shown.replaceAll(text, flagOf(option, own) ?? text);
  }
  return shown;
}

/** Returns the message of an error with flags for the options that it names. */
export function flagMessageOf(
  error: unknown,
  own?: Readonly<Record<string, string>>,
): string {
  return inFlags(messageOf(error), optionsNamedBy(error), own);
}

/** Returns the flags that a command names differently, for {@linkcode flagMessageOf}. */
export function ownFlagsOf(command: string): Readonly<Record<string, string>> {
  return Object.hasOwn(OWN_FLAGS, command) ? OWN_FLAGS[command]! : {};
}

/** Returns the flag of an option, with its value if it takes one; `undefined` if the command line has none. */
function flagOf(
  { name, value }: NamedOption,
  own: Readonly<Record<string, string>>,
): string | undefined {
  const named = (key: string) =>
    [own, FLAGS].find((flags) => Object.hasOwn(flags, key))?.[key];
  const negated = named(`${name}: ${value}`);
  if (negated !== undefined) return negated;
  const flag = named(name);
  const takesValue = typeof value === "string";
  return flag !== undefined && takesValue ? `${flag} ${value}` : flag;
}

/** Maps each name to its flag: `shardSize` to `--shard-size`. */
function flagsNamedLike(names: string): Record<string, string> {
  return Object.fromEntries(
    names.split(" ").map((name) => [
      name,
      `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    ]),
  );
}
