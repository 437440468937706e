import { decodeShortAscii, encodeShortAscii } from "../../base/short_ascii.ts";
import { PickleError } from "./pickle_error.ts";
import { strictUtf8Text } from "../../base/utf8.ts";

/**
 * Decodes the pickled string in `bytes[start … end]`: UTF-8, with lone surrogates as three bytes ED A0 80 … ED BF BF
 * (Python's error handler `surrogatepass`).
 */
export function decodePickledText(
  bytes: Uint8Array,
  start: number,
  end: number,
): string {
  const short = decodeShortAscii(bytes, start, end);
  if (short !== undefined) return short;
  const own = bytes.slice(start, end); // never shared memory
  try {
    return strictUtf8Text(own);
  } catch {
    return splitAtSurrogates(own, start);
  }
}

function splitAtSurrogates(bytes: Uint8Array, offset: number): string {
  let text = "";
  let done = 0;
  try {
    for (let i = 0; i + 2 < bytes.length; i++) {
      if (bytes[i] !== 0xed || bytes[i + 1]! < 0xa0) continue;
      text += strictUtf8Text(bytes.subarray(done, i));
      const [high, low] = [bytes[i + 1]!, bytes[i + 2]!];
      if (high > 0xbf || low < 0x80 || low > 0xbf) {
        throw new TypeError("not a surrogate");
      }
      text += String.fromCharCode(0xd000 | (high & 0x3f) << 6 | low & 0x3f);
      i += 2;
      done = i + 1;
    }
    return text + strictUtf8Text(bytes.subarray(done));
  } catch {
    throw new PickleError("bad-pickle", offset, "a string is not UTF-8");
  }
}

const encoder = new TextEncoder();

/** Encodes a string as pickles do: UTF-8, with lone surrogates as three bytes each. */
export function encodePickledText(text: string): Uint8Array {
  const short = encodeShortAscii(text);
  if (short !== undefined) return short;
  if (text.isWellFormed()) return encoder.encode(text);
  const bytes = new Uint8Array(3 * text.length);
  let length = 0;
  const put = (wellFormed: string) => {
    length += encoder.encodeInto(wellFormed, bytes.subarray(length)).written;
  };
  let done = 0;
  // With the flag u, only lone surrogates match.
  for (const { index } of text.matchAll(/[\ud800-\udfff]/gu)) {
    put(text.slice(done, index));
    const code = text.charCodeAt(index);
    bytes[length++] = 0xe0 | code >> 12;
    bytes[length++] = 0x80 | code >> 6 & 0x3f;
    bytes[length++] = 0x80 | code & 0x3f;
    done = index + 1;
  }
  put(text.slice(done));
  return bytes.subarray(0, length);
}
