import { PickleError } from "./pickle_error.ts";

/**
 * Pickled strings are UTF-8 in which lone surrogates stand as three bytes ED A0 80 … ED BF BF
 * (Python's error handler `surrogatepass`).
 */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes the pickled string in `bytes[start … end]`; lone surrogates stay lone. */
export function decodePickledText(
  bytes: Uint8Array,
  start: number,
  end: number,
): string {
  const own = bytes.slice(start, end); // never shared memory
  try {
    return decoder.decode(own);
  } catch {
    return splitAtSurrogates(own, start, (part) => decoder.decode(part));
  }
}

function splitAtSurrogates(
  bytes: Uint8Array,
  offset: number,
  decode: (part: Uint8Array) => string,
): string {
  let text = "";
  let done = 0;
  try {
    for (let i = 0; i + 2 < bytes.length; i++) {
      if (bytes[i] !== 0xed || bytes[i + 1]! < 0xa0) continue;
      text += decode(bytes.subarray(done, i));
      const [high, low] = [bytes[i + 1]!, bytes[i + 2]!];
      if (high > 0xbf || low < 0x80 || low > 0xbf) {
        throw new TypeError("not a surrogate");
      }
      text += String.fromCharCode(0xd000 | (high & 0x3f) << 6 | low & 0x3f);
      i += 2;
      done = i + 1;
    }
    return text + decode(bytes.subarray(done));
  } catch {
    throw new PickleError("bad-pickle", offset, "a string is not UTF-8");
  }
}
