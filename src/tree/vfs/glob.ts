import { messageOf } from "../../base/message_text.ts";
import { RecordfsError } from "../../base/errors.ts";

/** Matches whole names or paths. */
export type Glob = (text: string) => boolean;

/** What the package `picomatch` makes of a glob. */
export type MakeRe = (glob: string, options: object) => RegExp;

const OPTIONS = {
  dot: true, // hidden files are files
  posix: true, // without it, [!a] is not the opposite of [a]
  nonegate: true, // whole patterns are included or excluded by their option
  noextglob: true,
  strictSlashes: true, // a/** is what is in a, not a itself
  keepQuotes: true,
  debug: true, // an error where there is one, not a pattern that matches nothing
  flags: "s", // a name may have several lines
  expandRange(): never {
    throw new Error("ranges such as {1..9} are not known, write {1,2,3}");
  },
};

/**
 * The regular expression for one UTF-16 unit, and for a whole character, which no text is in two ways: to try all of
 * them would take twice as long for each.
 */
const UNIT = "[^/]";
const CHARACTER = "(?:[\ud800-\udbff][\udc00-\udfff]|" +
  "[^/\ud800-\udbff]|[\ud800-\udbff](?![\udc00-\udfff]))";

/**
 * Understands a glob: `*` and `?` stand for any characters but `/`, `**` for any directories,
 * `[a-z]` and `[!a-z]` for one character, `{a,b}` for either; a backslash takes the meaning away
 * from the next character, and all others mean themselves.
 *
 * @param makeRe The package's, which is for the caller to load.
 * @throws {RecordfsError} With code `bad-pattern` if it is none.
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
      `'${glob}' is no pattern: ${reason}`,
      { cause: error },
    );
  }
}

/** Whether nothing in a glob has another meaning than its own, but stars: it is compared in linear time. */
export function isSimpleGlob(glob: string): boolean {
  return !/[/?[\]{}\\]/.test(glob);
}

/**
 * Whether a text starts with the first part, ends with the last, and has the others in between, in their order: what
 * stands between stars. A regular expression finds it at once then, and else tries all ways to find that it can't.
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

/** The library takes these for parts of a regular expression. */
function escapeRegExp(glob: string): string {
  return glob.replaceAll(
    /\\.|[()|+@$]/gs,
    (found) => found.length > 1 ? found : `\\${found}`,
  );
}

/** An open brace would match nothing, or all kinds of things. */
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
  if (brackets) throw new Error("a [ is not closed (a plain one is \\[)");
  if (open !== 0) throw new Error("a brace has no other (a plain one is \\{)");
}

/** In brackets, half a character would match. */
function requireUnit(part: string): void {
  if (part < "\ud800" || part > "\udbff") return;
  throw new Error("such a character can't stand in [ ]: use {a,b}");
}
