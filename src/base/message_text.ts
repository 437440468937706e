/**
 * Text from containers and command lines in messages: shown as what it is, and never more of it than a reader
 * takes in.
 *
 * @module
 */

/** In UTF-16 units: a path as long as Linux knows them is cut, a sentence about a usual one is not. */
const LONGEST = 2000;
/** What to do stands at the end. */
const END = 700;
const START = 1200;

const SHORT: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
};

/**
 * What a terminal would act on instead of show, or show in another order: control characters, what directs
 * bidirectional text, what takes no room, tags (`Cf` is all of these), the line ends of Unicode, and unpaired
 * surrogates, which match because of the `u` flag.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * Replaces what is not shown as it is: control characters become escapes as `ls -b` prints them, and so do
 * bytes that are not UTF-8 (lone surrogates in the API's names); others become `\u202e`.
 */
export function escapeUnshown(text: string): string {
  return text.replaceAll(UNSHOWN, (char) => SHORT[char] ?? escape(char));
}

/** The text of a message: all of it can be shown, and what is too long to be read is cut in the middle. */
export function messageText(text: string): string {
  if (text.length <= LONGEST) return escapeUnshown(text);
  // What is left out is not escaped first: a class may have a name of megabytes.
  const start = escapeUnshown(text.slice(0, START));
  const end = escapeUnshown(text.slice(-END));
  const left = text.length - START - END;
  return `${start} … (${left} characters left out) … ${end}`;
}

function escape(char: string): string {
  const code = char.charCodeAt(0);
  if (char.length === 1 && (code < 0x100 || code >= 0xdc80 && code <= 0xdcff)) {
    return `\\${(code & 0xff).toString(8).padStart(3, "0")}`;
  }
  return escapeUtf16(char);
}

/** A character as JSON may have it too: `\u202e`. */
export function escapeUtf16(char: string): string {
  return Array.from(
    { length: char.length },
    (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Message of an error, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Says something odd that is no error where nobody has said what to do with it. */
export function warnOnConsole(message: string): void {
  // deno-lint-ignore no-console -- a library's warning has no other place by default
  console.warn(messageText(message));
}

/** Lines of one kind on the console. */
const MOST_LINES = 10;

/**
 * Passes on what is odd: all lines to a caller that takes them; without one, the first ten to the console, and the
 * number of the others.
 */
export function warnOfAll(
  lines: readonly string[],
  onWarning?: (message: string) => void,
): void {
  if (onWarning !== undefined) {
    for (const line of lines) onWarning(line);
    return;
  }
  for (const line of lines.slice(0, MOST_LINES)) warnOnConsole(line);
  const more = lines.length - MOST_LINES;
  if (more > 0) warnOnConsole(`… and ${more} more`);
}
