import { decodeName, encodeName } from "../../../base/names.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import { type Database, DatabaseFlag, viewOf } from "../layout.ts";

/** An entry from which the names in a database are chosen. */
export interface SampledEntry {
  readonly key: Uint8Array;
  /** First bytes of its value. */
  readonly head: Uint8Array;
  /** Whether the value is on pages of its own, which a walk does not read. */
  readonly isElsewhere: boolean;
}

/** How the keys of a database become names. */
export interface KeyShape {
  /** Bytes of keys that are integers; 0 if keys are text. */
  readonly integerSize: number;
  /** Whether the first byte of an integer is its lowest. */
  readonly isLittle: boolean;
  /** Suffix of values on pages of their own, and of others that begin as such files; `undefined` if there is none. */
  readonly suffix: string | undefined;
}

/** Names as they are. */
export const AS_TEXT: KeyShape = {
  integerSize: 0,
  isLittle: false,
  suffix: undefined,
};

/** Names with a suffix of their own. */
const HAS_SUFFIX = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/**
 * Finds out how the keys of a database become names, from a few of its entries. Keys are integers if the database says
 * so, or if all are of the same 4 or 8 bytes and begin with a zero byte, as no text does. Names get a suffix if values
 * begin as files of one type, and keys have no suffixes.
 */
export function shapeOf(
  { flags }: Database,
  entries: readonly SampledEntry[],
): KeyShape {
  const isLittle = (flags & DatabaseFlag.INTEGER_KEYS) !== 0;
  const size = entries[0]?.key.length ?? 0;
  const areIntegers = (size === 4 || size === 8) &&
    entries.every(({ key }) =>
      key.length === size && (isLittle || key[0] === 0)
    );
  const suffixes = new Set(
    entries.map(({ head, isElsewhere }) =>
      sniffedSuffix(head) ?? (isElsewhere ? "" : undefined)
    ).filter((suffix) => suffix !== undefined),
  );
  const isOwn = entries.some(({ key }) => HAS_SUFFIX.test(decodeName(key)));
  const [suffix = ""] = suffixes;
  return {
    integerSize: areIntegers ? size : 0,
    isLittle,
    suffix: suffixes.size !== 1 || isOwn || suffix === "" ? undefined : suffix,
  };
}

/** Returns the name of a key, without suffix. It is distinct for each key. */
export function keyName(
  bytes: Uint8Array,
  start: number,
  end: number,
  { integerSize, isLittle }: KeyShape,
): Uint8Array {
  if (end - start !== integerSize || integerSize === 0) {
    return isPlain(bytes, start, end)
      ? bytes.subarray(start, end)
      : encodeName(escapedName(decodeName(bytes, start, end)));
  }
  const view = viewOf(bytes);
  return encodeName(String(
    integerSize === 4
      ? view.getUint32(start, isLittle)
      : view.getBigUint64(start, isLittle),
  ));
}

/** Whether a key is a name as it is. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end || bytes[start] === 0x2e) return false; // `.`
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === 0 || byte === 0x25 || byte === 0x2f) return false; // `%`, `/`
  }
  return true;
}

/** A suffix of names, which stay distinct: names that end in it already get it, too. */
export class Suffix {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(text: string) {
    this.text = text;
    this.bytes = encodeName(text);
  }

  /** Whether the name at the end of `bytes[start … end]` ends in it. */
  ends(bytes: Uint8Array, start: number, end: number): boolean {
    const from = end - this.bytes.length;
    return from >= start &&
      this.bytes.every((byte, i) => bytes[from + i] === byte);
  }
}

/** Whether a name is a number. */
export function isNumber(
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  for (let i = start; i < end; i++) {
    if (!(bytes[i]! >= 48 && bytes[i]! <= 57)) return false;
  }
  return end > start;
}
