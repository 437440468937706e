/** Decoders for tests: short, and not those that are shipped. */
import type { Decoders } from "../../../src/formats/bags/mod.ts";

const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Types that need no library to be decoded; the values of others are bytes. */
export const decoders: Decoders = {
  utf8(bytes) {
    try {
      return text.decode(bytes);
    } catch (cause) {
      throw new Error("it is not UTF-8", { cause });
    }
  },
  int(bytes, _size, order = "little") {
    const ordered = order === "little" ? bytes.toReversed() : bytes;
    const value = BigInt(`0x0${ordered.toHex()}`);
    return value > Number.MAX_SAFE_INTEGER ? value : Number(value);
  },
};

/** Types whose values `decoders` and {@linkcode assertValue} know. */
export const KNOWN =
  /^(utf8|int|bytes|jpe?g|png|point)(\(.*\))?(\[\])?$|^array\(/;
