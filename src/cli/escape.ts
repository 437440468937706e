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
 * Replaces what a terminal would act on instead of show: control characters become escapes as
 * `ls -b` prints them, and so do bytes that are not UTF-8 (lone surrogates in the API's names).
 */
export function escapeControls(text: string): string {
  return text.replaceAll(
    // U+2028 and U+2029 break lines; unpaired surrogates match because of the `u` flag.
    /[\p{Cc}\p{Cs}\u2028\u2029]/gu,
    (char) => SHORT[char] ?? escape(char.charCodeAt(0)),
  );
}

/** How names are shown on standard output: escaped on a terminal, exact anywhere else. */
export function nameWriter(): (name: string) => string {
  return Deno.stdout.isTerminal() ? escapeControls : (name) => name;
}

function escape(code: number): string {
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
  return byte < 0x100
    ? `\\${byte.toString(8).padStart(3, "0")}`
    : `\\u${byte.toString(16)}`;
}
