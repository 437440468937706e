import { decodeName, encodeName } from "../../base/names.ts";
import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readSlices } from "../../io/read/read_slices.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { escapedName } from "../names/escaped_name.ts";

/** An entry from which the names of keys are chosen. */
export interface SampledEntry {
  readonly key: Uint8Array;
  /** Offset of its value in the file. */
  readonly offset: number;
  /** Length of its value in bytes. */
  readonly length: number;
  /** Whether the value is apart from the key, so that an index does not read it. */
  readonly isApart: boolean;
}

/** Bytes of a value's start that show its type. */
const HEAD = 16;

/** Names with a suffix of their own. */
const HAS_SUFFIX = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/** Names of the keys in one store, without suffixes. Each key has another. */
export class KeyNames {
  /** Suffix of values apart from their keys, and of others that begin as such files; empty if there is none. */
  readonly suffix: string;
  /** Bytes of keys that are integers; 0 if keys are text. */
  readonly #integerSize: number;
  readonly #isLittle: boolean;

  /**
   * Chooses the names by a few entries. Keys are integers if the store says so, or if all are of the same 4 or 8 bytes
   * and begin with a zero byte, as no text does. There is a suffix if values begin as files of one type, and keys have
   * no suffixes of their own.
   *
   * @param entries None: keys are text.
   * @param heads First bytes of their values.
   * @param hasIntegers Whether the store says that keys are little-endian integers; others are big-endian.
   */
  constructor(
    entries: readonly SampledEntry[] = [],
    heads: readonly Uint8Array[] = [],
    hasIntegers = false,
  ) {
    const size = entries[0]?.key.length ?? 0;
    const areIntegers = (size === 4 || size === 8) && entries.every((
      { key },
    ) => key.length === size && (hasIntegers || key[0] === 0));
    this.#integerSize = areIntegers ? size : 0;
    this.#isLittle = hasIntegers;
    const suffixes = new Set(entries.flatMap(({ isApart }, i) => {
      const suffix = sniffedSuffix(heads[i]!) ?? "";
      return isApart || suffix !== "" ? [suffix] : [];
    }));
    const isOwn = entries.some(({ key }) => HAS_SUFFIX.test(decodeName(key)));
    const [suffix = ""] = suffixes;
    this.suffix = suffixes.size === 1 && !isOwn ? suffix : "";
  }

  /** Returns the name of a key, percent-encoded where names allow no such bytes; integers are decimal. */
  nameOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
    if (end - start !== this.#integerSize || this.#integerSize === 0) {
      return isPlain(bytes, start, end)
        ? bytes.subarray(start, end)
        : encodeName(escapedName(decodeName(bytes, start, end)));
    }
    const { buffer, byteOffset } = bytes;
    const view = new DataView(buffer, byteOffset + start, end - start);
    const number = end - start === 4
      ? view.getUint32(0, this.#isLittle)
      : view.getBigUint64(0, this.#isLittle);
    return encodeName(String(number));
  }
}

/** Chooses the names of keys as {@linkcode KeyNames} does, by entries whose values are read if they lie in the file. */
export function* namesOf(
  source: ByteSource,
  entries: readonly SampledEntry[],
  hasIntegers: boolean,
): Steps<KeyNames> {
  const slices = entries.map(({ offset, length }) => {
    const isInside = offset + length <= source.size;
    const place = { offset, length: Math.min(HEAD, length) };
    return { source: 0, ...isInside ? place : { offset: 0, length: 0 } };
  });
  const heads = yield* readSlices([source], slices);
  return new KeyNames(entries, heads, hasIntegers);
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

/** A suffix of names. */
export class Suffix {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(text: string) {
    this.text = text;
    this.bytes = encodeName(text);
  }

  /** Whether the name at `bytes[start … end]` ends in it. */
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
