/**
 * Short texts of ASCII, which nearly all names and ids are: a loop over them takes a third of what a call of an encoder
 * or decoder does, and needs no memory of its own.
 *
 * @module
 */

/** Up to this length. */
const SHORT = 64;

/**
 * Writes a text to memory that has room for it from `start` on; `false` where it is not short or not ASCII: then some of
 * it may be written.
 */
export function shortAsciiInto(
  text: string,
  memory: Uint8Array,
  start = 0,
): boolean {
  const { length } = text;
  if (length > SHORT) return false;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return false;
    memory[start + i] = code;
  }
  return true;
}

/** The bytes of a text, or `undefined` where it is not short or not ASCII. */
export function encodeShortAscii(text: string): Uint8Array | undefined {
  if (text.length > SHORT) return undefined;
  const bytes = new Uint8Array(text.length);
  return shortAsciiInto(text, bytes) ? bytes : undefined;
}

/** The text in `bytes[start … end]`, or `undefined` where it is not short or not ASCII. */
export function decodeShortAscii(
  bytes: Uint8Array,
  start: number,
  end: number,
): string | undefined {
  if (end - start > SHORT) return undefined;
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}
