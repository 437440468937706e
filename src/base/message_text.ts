/**
 * Text of messages: untrusted text from containers and command lines is escaped and cut to a readable length.
 *
 * @module
 */

/** Longest message, in UTF-16 units: a path of Linux's maximum length is cut, a sentence about a usual path is not. */
const LONGEST = 2000;
/** Units kept from the end, where the message says what to do. */
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
 * Characters that a terminal would act on or reorder rather than show: control characters, bidirectional controls,
 * zero-width characters and tags (all in `Cf`), Unicode line ends, and unpaired surrogates, which match because of the
 * `u` flag.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * Escapes what a terminal does not show as it is: control characters and bytes that are not UTF-8 (lone surrogates in
 * the API's names) as `ls -b` prints them, others as `\u202e`.
 */
export function escapeUnshown(text: string): string {
  return text.replaceAll(UNSHOWN, (char) => SHORT[char] ?? escape(char));
}

/** Makes a message safe to print, and cuts the middle of one that is too long. */
export function messageText(text: string): string {
  if (text.length <= LONGEST) return escapeUnshown(text);
  // The omitted middle is not escaped: a class may have a name of megabytes.
  const start = escapeUnshown(text.slice(0, START));
  const end = escapeUnshown(text.slice(-END));
  const left = text.length - START - END;
  return `${start} … (${left} characters omitted) … ${end}`;
}

function escape(char: string): string {
  const code = char.charCodeAt(0);
  if (char.length === 1 && (code < 0x100 || code >= 0xdc80 && code <= 0xdcff)) {
    return `\\${(code & 0xff).toString(8).padStart(3, "0")}`;
  }
  return escapeUtf16(char);
}

/** Escapes a character as in JSON: `\u202e`. */
export function escapeUtf16(char: string): string {
  return Array.from(
    { length: char.length },
    (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Returns the message of an error, or the thrown value as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the reason in a message `Cannot VERB PATH: REASON`; returns any other message unchanged. */
export function reasonIn(message: string, path: string): string {
  const [cannot = ""] = /^Cannot \w+ /.exec(message) ?? [];
  const start = `${cannot}${path}: `;
  return cannot !== "" && message.startsWith(start)
    ? message.slice(start.length)
    : message;
}

/** Prints a warning to the console, for callers that pass no `onWarning`. */
export function warnOnConsole(message: string): void {
  // deno-lint-ignore no-console -- a library's warning has no other place by default
  console.warn(messageText(message));
}

const MOST_LINES = 10;

/**
 * Reports all warnings to `onWarning` if given; otherwise to the console the first ten, and the number of the others.
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
