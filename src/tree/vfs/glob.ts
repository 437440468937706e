import { messageOf } from "../../base/message_text.ts";
import { RecordfsError } from "../../base/errors.ts";

export type Glob = (text: string) => boolean;

export type MakeRe = (glob: string, options: object) => RegExp;

const OPTIONS = {
  dot: true, // hidden files match
  posix: true, // without it, [!a] is not the complement of [a]
  nonegate: true, // inclusion and exclusion are separate options
  noextglob: true,
  strictSlashes: true, // a/** matches the contents of a, not a itself
  keepQuotes: true,
  debug: true, // throws on errors instead of matching nothing
  flags: "s", // names may contain newlines
  expandRange(): never {
    throw new Error("ranges such as {1..9} are not supported: write {1,2,3}");
  },
};

/**
 * Patterns for one UTF-16 unit, and for one whole character. The latter matches a text in only one way: overlapping
 * alternatives would double the backtracking with each character.
 */
const UNIT = "[^/]";
const CHARACTER = "(?:[\ud800-\udbff][\udc00-\udfff]|" +
  "[^/\ud800-\udbff]|[\ud800-\udbff](?![\udc00-\udfff]))";

/**
 * Compiles a glob: `*` and `?` match any characters but `/`, `**` any directories, `[a-z]` and `[!a-z]` one character,
 * `{a,b}` either; a backslash escapes the next character, and all others are literal.
 *
 * @param makeRe Loaded by the caller.
 * @throws {RecordfsError} With code `bad-pattern` if the glob is invalid.
 */
export function compileGlob(glob: string, makeRe: MakeRe): Glob {
  try {
    requireBalance(glob);
    const { source, flags } = makeRe(escapeRegExp(glob), OPTIONS);
    const whole = new RegExp(source.replaceAll(UNIT, CHARACTER), flags);
    if (!isSimpleGlob(glob)) return (text) => whole.test(text);
    const parts = glob.split("*");
    return (text) => hasInOrder(text, parts) && whole.test(text);
  } catch (error) {
    const reason = messageOf(error);
    throw new RecordfsError(
      "bad-pattern",
      `The pattern '${glob}' is invalid: ${reason}`,
      { cause: error },
    );
  }
}

/** Whether a glob has no special characters but `*`, so that it matches in linear time. */
export function isSimpleGlob(glob: string): boolean {
  return !/[/?[\]{}\\]/.test(glob);
}

/**
 * Whether a text starts with the first part, ends with the last, and has the others between them in order: the text
 * between stars. If so, the regular expression matches without backtracking; if not, it would try every split before it
 * fails.
 */
function hasInOrder(text: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return parts.length === 1 || at <= end;
}

/** Escapes characters that picomatch passes on to the regular expression. */
function escapeRegExp(glob: string): string {
  return glob.replaceAll(
    /\\.|[()|+@$]/gs,
    (found) => found.length > 1 ? found : `\\${found}`,
  );
}

/** Rejects unbalanced braces and brackets, which would match nothing or unrelated names. */
function requireBalance(glob: string): void {
  let open = 0;
  let brackets = false;
  for (const [part] of glob.matchAll(/\\.|[^]/g)) {
    if (part === "\\") throw new Error("nothing follows its last backslash");
    if (part === "[") brackets = true;
    else if (part === "]") brackets = false;
    else if (brackets) requireUnit(part);
    else if (part === "{") open++;
    else if (part === "}" && --open < 0) break;
  }
  if (brackets) {
    throw new Error("a [ is not closed (write \\[ for the character)");
  }
  if (open !== 0) {
    throw new Error("a brace has no counterpart (write \\{ for the character)");
  }
}

/** Rejects surrogate pairs in brackets, where half a character would match. */
function requireUnit(part: string): void {
  if (part < "\ud800" || part > "\udbff") return;
  throw new Error("such a character cannot be in [ ]: use {a,b}");
}
