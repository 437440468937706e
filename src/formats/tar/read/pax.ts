import { decodeName } from "../../../names.ts";
import { MOST_SECONDS } from "../layout.ts";

/**
 * What extended headers say of a member (POSIX.1-2001), as far as it matters here. Nothing is kept of all other
 * records, however many there are.
 */
export interface PaxFacts {
  /** Empty where a header takes back what one before has said. */
  readonly path?: Uint8Array;
  readonly link?: Uint8Array;
  /** In bytes; NaN where it is taken back. */
  readonly size?: number;
  /** In milliseconds since 1970. */
  readonly mtime?: number;
  /** The key by which the content is one with holes. */
  readonly sparse?: string;
  /** The name of such a one. */
  readonly sparseName?: Uint8Array;
}

/** Thrown where records are none. */
export class PaxError extends Error {
  override name = "PaxError";
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const EQUALS = 0x3d;

/** Longest key that is known, in bytes; longer ones need no look. */
const LONGEST_KEY = 32;

/**
 * Reads the records of an extended header: `LENGTH KEY=VALUE\n`, where the length is that of all of it.
 *
 * @param bytes The records, in memory that the facts may keep.
 * @param before What earlier headers say of the same members.
 * @throws {PaxError} If a record's length lies, or it has no key.
 */
export function readPax(bytes: Uint8Array, before: PaxFacts = {}): PaxFacts {
  const facts: { -readonly [Key in keyof PaxFacts]: PaxFacts[Key] } = {
    ...before,
  };
  for (let at = 0; at < bytes.length && bytes[at] !== 0;) {
    let length = 0;
    let from = at;
    for (; from < bytes.length && bytes[from] !== SPACE; from++) {
      const digit = bytes[from]! - 0x30;
      if (!(digit >= 0 && digit <= 9) || from - at > 9) {
        throw new PaxError("a record does not start with its length");
      }
      length = length * 10 + digit;
    }
    const end = at + length - 1;
    if (from <= at || end <= from || end >= bytes.length) {
      throw new PaxError(`a record says that it has ${length} bytes`);
    }
    if (bytes[end] !== NEWLINE) {
      throw new PaxError("a record does not end where it says");
    }
    const equals = bytes.indexOf(EQUALS, from + 1);
    if (equals < 0 || equals >= end) throw new PaxError("a record has no key");
    if (equals - from - 1 <= LONGEST_KEY) {
      const key = decodeName(bytes, from + 1, equals);
      take(facts, key, bytes.subarray(equals + 1, end));
    }
    at = end + 1;
  }
  return facts;
}

function take(
  facts: { -readonly [Key in keyof PaxFacts]: PaxFacts[Key] },
  key: string,
  value: Uint8Array,
): void {
  if (key === "path") facts.path = value;
  else if (key === "linkpath") facts.link = value;
  else if (key === "size") facts.size = sizeOf(decodeName(value));
  else if (key === "mtime") facts.mtime = timeOf(decodeName(value));
  else if (key.startsWith("GNU.sparse.") || key === "SCHILY.realsize") {
    facts.sparse = key;
    if (key === "GNU.sparse.name") facts.sparseName = value;
  }
}

function sizeOf(text: string): number {
  if (text === "") return NaN;
  const size = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(size)) return size;
  throw new PaxError(`'${text}' is no size`);
}

/** Fractions of a millisecond are left out. */
function timeOf(text: string): number {
  if (text === "") return NaN;
  const seconds = /^-?\d+(\.\d*)?$/.test(text) ? Number(text) : NaN;
  if (Math.abs(seconds) <= MOST_SECONDS) return Math.floor(seconds * 1000);
  throw new PaxError(`'${text}' is no time`);
}
