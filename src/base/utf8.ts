/** Keeps U+FEFF at the start, which is data here and which `TextDecoder` drops by default. */
const KEEP_MARK = { ignoreBOM: true } as const;
const lossy = new TextDecoder("utf-8", KEEP_MARK);
const strict = new TextDecoder("utf-8", { ...KEEP_MARK, fatal: true });

/** Decodes UTF-8; a byte that is not UTF-8 becomes U+FFFD. Keeps a U+FEFF at the start. */
export function utf8Text(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** Decodes UTF-8; throws a `TypeError` if the bytes are not UTF-8. Keeps a U+FEFF at the start. */
export function strictUtf8Text(bytes: Uint8Array): string {
  return strict.decode(bytes);
}

/** Removes a byte order mark from the start of a text that should not have one, such as JSON or a list of lines. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Removes white space from both ends. Keeps U+FEFF, which `String.trim` removes. */
export function trimSpace(text: string): string {
  return text.replace(/^(?:(?!\ufeff)\s)+|(?:(?!\ufeff)\s)+$/g, "");
}
