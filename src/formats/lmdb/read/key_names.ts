import { decodeName, encodeName } from "../../../base/names.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import { type Database, DatabaseFlag, viewOf } from "../layout.ts";

/** An entry at an end of a database: its key, and the first bytes of its value. */
export interface EndEntry {
  readonly key: Uint8Array;
  readonly head: Uint8Array;
}

/** How the keys of a database become names. */
export interface KeyShape {
  /** Bytes of keys that are integers; 0 if keys are text. */
  readonly integerSize: number;
  /** Whether the first byte of an integer is its lowest. */
  readonly isLittle: boolean;
  /** Suffix of all names. */
  readonly suffix: string;
}

/** Names with a suffix of their own. */
const HAS_SUFFIX = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/**
 * Finds out how the keys of a database become names. Keys are integers if the database says so, or if the first and the
 * last are of the same 4 or 8 bytes and begin with a zero byte, as no text does. If the values of both begin as files
 * of one type, and the keys have no suffixes, all names get the type's suffix.
 *
 * @param ext Suffix of names that are numbers, in place of the values'.
 */
export function shapeOf(
  { flags }: Database,
  ends: readonly EndEntry[],
  ext: string,
): KeyShape {
  const isLittle = (flags & DatabaseFlag.INTEGER_KEYS) !== 0;
  const size = ends[0]?.key.length ?? 0;
  const areIntegers = (size === 4 || size === 8) &&
    ends.every(({ key }) => key.length === size && (isLittle || key[0] === 0));
  const shape = { integerSize: areIntegers ? size : 0, isLittle };
  const names = ends.map(({ key }) =>
    keyName(key, 0, key.length, { ...shape, suffix: "" })
  );
  if (ext !== "" && names.every((name) => /^\d+$/.test(decodeName(name)))) {
    return { ...shape, suffix: ext };
  }
  const [first = "", ...others] = new Set(
    ends.map(({ head }) => sniffedSuffix(head) ?? ""),
  );
  const isOwn = names.some((name) => HAS_SUFFIX.test(decodeName(name)));
  return { ...shape, suffix: others.length > 0 || isOwn ? "" : first };
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
