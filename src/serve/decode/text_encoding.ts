import { concatBytes } from "../../base/bytes_of.ts";
import type { OtherEncoding } from "../api/value_messages.ts";
import { isText } from "../files/content_type.ts";

export type TextEncoding = OtherEncoding | "utf-8";

/** Control characters that do not occur in texts, and U+FFFE, which is a byte order mark in the wrong byte order. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const NO_TEXT = /[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]/;

/** Bytes undefined in Windows-1252. */
const OPEN = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** Minimum share of ASCII in Western text: other bytes are accented letters, which are few. */
const LEAST_ASCII = 0.7;

/** UTF-16 without byte order mark: minimum share of NUL high bytes, and maximum of NUL low bytes relative to it. */
const LEAST_NULS = 0.6;
const MOST_LOW_NULS = 0.1;

const PIECE = 1 << 20;

/**
 * Detects the encoding of a text from its first bytes, which may end within a character; `undefined` if they are not
 * text. Any bytes are valid Windows-1252, so it is assumed only without control characters and if most bytes are ASCII.
 */
export function encodingOf(head: Uint8Array): TextEncoding | undefined {
  const [first, second] = head;
  const isEven = head.length % 2 === 0; // as are all heads of larger files
  if (first === 0xff && second === 0xfe) {
    return isEven ? ifText(head, "utf-16le") : undefined;
  }
  if (first === 0xfe && second === 0xff) {
    return isEven ? ifText(head, "utf-16be") : undefined;
  }
  if (isText(head)) return "utf-8";
  const nuls = [0, 0];
  for (let i = 0; i < head.length; i++) if (head[i] === 0) nuls[i & 1]!++;
  const [even, odd] = nuls as [number, number];
  if (even + odd === 0) return ifText(head, "windows-1252");
  const [less, more] = even < odd ? [even, odd] : [odd, even];
  if (!isEven || more < LEAST_NULS * Math.floor(head.length / 2)) {
    return undefined;
  }
  if (less > MOST_LOW_NULS * more) return undefined;
  return ifText(head, odd > even ? "utf-16le" : "utf-16be");
}

function ifText(
  head: Uint8Array,
  encoding: TextEncoding,
): TextEncoding | undefined {
  return isTextIn(head, encoding) ? encoding : undefined;
}

/** Whether bytes are text in an encoding. The last character may be incomplete. */
export function isTextIn(bytes: Uint8Array, encoding: TextEncoding): boolean {
  switch (encoding) {
    case "utf-8":
      return isText(bytes);
    case "windows-1252":
      return isWestern(bytes);
    default:
      try {
        const decoder = new TextDecoder(encoding, { fatal: true });
        return !NO_TEXT.test(decoder.decode(bytes, { stream: true }));
      } catch {
        return false; // half of a surrogate pair
      }
  }
}

function isWestern(bytes: Uint8Array): boolean {
  let ascii = 0;
  for (const byte of bytes) {
    if (byte < 0x20 && !(byte >= 9 && byte <= 13)) return false;
    if (byte === 0x7f || OPEN.includes(byte)) return false;
    if (byte < 0x80) ascii++;
  }
  return ascii >= LEAST_ASCII * bytes.length;
}

/** Returns an encoding as a message field. */
export function named(
  encoding: TextEncoding,
): { readonly encoding?: OtherEncoding } {
  return encoding === "utf-8" ? {} : { encoding };
}

/** Decodes a text. The last character may be incomplete. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

export interface InUtf8 {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Original encoding. */
  readonly encoding: TextEncoding;
}

/** Transcodes a text to UTF-8. Bytes in no known encoding are unchanged. */
export function inUtf8(bytes: Uint8Array<ArrayBuffer>): InUtf8 {
  const encoding = encodingOf(bytes) ?? "utf-8";
  if (encoding === "utf-8") return { bytes, encoding };
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += PIECE) {
    const piece = bytes.subarray(start, start + PIECE);
    pieces.push(encoder.encode(decoder.decode(piece, { stream: true })));
  }
  return { bytes: concatBytes(pieces), encoding };
}
