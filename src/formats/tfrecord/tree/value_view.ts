import { readNpy } from "../../../codecs/numpy/mod.ts";
import type { ValueView } from "../../../tree/node_view.ts";
import type { Content } from "./record_layout.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Bytes of the largest value that is shown. */
const LARGEST = 64 << 20;

/**
 * Numbers in one of their forms: one in JSON is that number, and what is in NumPy's is an array; `undefined` of
 * several in JSON, which is a file as any other.
 */
export function numbersView(
  { kind, numbers }: Content & { readonly kind: "json" | "npy" },
  key: string | undefined,
): ValueView | undefined {
  const isOne = numbers.length === 1 && kind === "json";
  if (kind === "json" && !isOne) return undefined;
  return {
    kind: "value",
    key,
    type: numbers instanceof Float32Array ? "float" : "int64",
    holds: isOne ? "number" : "array",
    isList: false,
    largest: LARGEST,
    decode: (bytes) =>
      Promise.resolve(isOne ? decodeValue(bytes) : readNpy(bytes)),
    decoding: isOne ? { module: import.meta.url, args: [] } : "npy",
  };
}

/** Bytes, of which nobody says what they are; or a directory of values. */
export function bytesView(
  type: string,
  isList: boolean,
  key: string | undefined,
): ValueView {
  return {
    kind: "value",
    key,
    type,
    holds: "bytes",
    isList,
    largest: LARGEST,
    decode: (bytes) => Promise.resolve(bytes),
    decoding: "bytes",
  };
}

/** Decodes the number in a list of JSON of one; exact. */
export function decodeValue(bytes: Uint8Array): number | bigint {
  const word = utf8Text(bytes).trim().slice(1, -1);
  const number = Number(word);
  return Number.isInteger(number) && !Number.isSafeInteger(number) &&
      /^-?\d+$/.test(word)
    ? BigInt(word)
    : number;
}
