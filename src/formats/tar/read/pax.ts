import { decodeName } from "../../../base/names.ts";
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
  /** In milliseconds since 1970; NaN where it is taken back, or is no time. */
  readonly mtime?: number;
  /** Of a file with holes. */
  readonly sparse?: PaxSparse;
  /** Of a part of a file that began in another volume: the name of the file. */
  readonly continues?: Uint8Array;
  /** What is wrong with the records: completes the sentence "The header …". */
  readonly damage?: string;
}

/** What extended headers say of a file with holes (GNU tar, "Storing Sparse Files"). */
export interface PaxSparse {
  readonly name?: Uint8Array;
  /** Its size in bytes, holes included. */
  readonly size?: number;
  /** Offsets and lengths of its data, one after the other: versions 0.0 and 0.1. */
  readonly map?: readonly number[];
  /** Major and minor version, where they are given: from 1.0 on the map stands before the data. */
  readonly major?: number;
  readonly minor?: number;
  /** The key of another program's way to store holes. */
  readonly other?: string;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

class PaxError extends Error {}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const EQUALS = 0x3d;

/** Longest key that is known, in bytes; longer ones need no look. */
const LONGEST_KEY = 32;

/**
 * Reads the records of an extended header: `LENGTH KEY=VALUE\n`, where the length is that of all of it. Of a damaged
 * one, what stands before the damage is read, and {@linkcode PaxFacts.damage} says so.
 *
 * @param bytes The records, in memory that the facts may keep.
 * @param before What earlier headers say of the same members.
 */
export function readPax(bytes: Uint8Array, before: PaxFacts = {}): PaxFacts {
  const facts: Writable<PaxFacts> = { ...before };
  try {
    readRecords(bytes, facts);
  } catch (error) {
    if (!(error instanceof PaxError)) throw error;
    facts.damage = error.message;
  }
  return facts;
}

function readRecords(bytes: Uint8Array, facts: Writable<PaxFacts>): void {
  for (let at = 0; at < bytes.length && bytes[at] !== 0;) {
    let length = 0;
    let from = at;
    for (; from < bytes.length && bytes[from] !== SPACE; from++) {
      const digit = bytes[from]! - 0x30;
      if (!(digit >= 0 && digit <= 9) || from - at > 9) {
        throw new PaxError("has a record that does not start with its length");
      }
      length = length * 10 + digit;
    }
    const end = at + length - 1;
    if (from <= at || end <= from || end >= bytes.length) {
      throw new PaxError(`has a record that says that it has ${length} bytes`);
    }
    if (bytes[end] !== NEWLINE) {
      throw new PaxError("has a record that does not end where it says");
    }
    const equals = bytes.indexOf(EQUALS, from + 1);
    if (equals < 0 || equals >= end) {
      throw new PaxError("has a record without a key");
    }
    if (equals - from - 1 <= LONGEST_KEY) {
      const key = decodeName(bytes, from + 1, equals);
      take(facts, key, bytes.subarray(equals + 1, end));
    }
    at = end + 1;
  }
}

function take(
  facts: Writable<PaxFacts>,
  key: string,
  value: Uint8Array,
): void {
  if (key === "path") facts.path = value;
  else if (key === "linkpath") facts.link = value;
  else if (key === "size") facts.size = value.length ? sizeOf(value) : NaN;
  else if (key === "mtime") facts.mtime = timeOf(decodeName(value));
  else if (key.startsWith("GNU.sparse.")) {
    const sparse: Writable<PaxSparse> = { ...facts.sparse };
    takeSparse(sparse, key.slice("GNU.sparse.".length), value);
    facts.sparse = sparse;
  } else if (key === "SCHILY.realsize" || key === "SUN.holesdata") {
    facts.sparse = { ...facts.sparse, other: key };
  } else if (key === "GNU.volume.filename") facts.continues = value;
}

function takeSparse(
  sparse: Writable<PaxSparse>,
  key: string,
  value: Uint8Array,
): void {
  if (key === "name") sparse.name = value;
  else if (key === "size" || key === "realsize") sparse.size = sizeOf(value);
  else if (key === "major") sparse.major = sizeOf(value);
  else if (key === "minor") sparse.minor = sizeOf(value);
  else if (key === "offset" || key === "numbytes") {
    const map = sparse.map as number[] | undefined ?? [];
    map.push(sizeOf(value));
    sparse.map = map;
    if (map.length % 2 !== (key === "offset" ? 1 : 0)) {
      throw new PaxError("has a map of holes out of order");
    }
  } else if (key === "map") {
    sparse.map = decodeName(value).split(",").map(numberOf);
  }
}

function sizeOf(value: Uint8Array): number {
  return numberOf(decodeName(value));
}

function numberOf(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(size)) return size;
  throw new PaxError(`has '${text}' where a size stands`);
}

/** Fractions of a millisecond are left out. */
function timeOf(text: string): number {
  const seconds = /^-?\d+(\.\d*)?$/.test(text) ? Number(text) : NaN;
  return Math.abs(seconds) <= MOST_SECONDS ? Math.floor(seconds * 1000) : NaN;
}
