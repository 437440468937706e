/** Small decoders for tests, independent of the product's own. */
import type { Decoders } from "../../../src/formats/bags/mod.ts";

const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decoders of types that need no library. Values of other types stay bytes. */
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

/** Types whose values `decoders` and {@linkcode assertValue} support. */
export const KNOWN =
  /^(utf8|int|bytes|jpe?g|png|point)(\(.*\))?(\[\])?$|^array\(/;
