import { decodeName } from "../../../base/names.ts";
import { MOST_SECONDS } from "../layout.ts";

/** Extended attributes of a member (POSIX.1-2001) that matter here; other records are dropped. */
export interface PaxFacts {
  /** Empty if a header cancels an earlier one. */
  readonly path?: Uint8Array;
  readonly link?: Uint8Array;
  /** In bytes; NaN if cancelled. */
  readonly size?: number;
  /** In milliseconds since 1970; NaN if cancelled or invalid. */
  readonly mtime?: number;
  readonly sparse?: PaxSparse;
  /** For a continuation from another volume: the name of the file. */
  readonly continues?: Uint8Array;
  /** Damage of the records: completes the sentence "The header …". */
  readonly damage?: string;
}

/** Attributes of sparse files (GNU tar, "Storing Sparse Files"). */
export interface PaxSparse {
  readonly name?: Uint8Array;
  /** Size in bytes, including holes. */
  readonly size?: number;
  /** Alternating offsets and lengths of data: versions 0.0 and 0.1. */
  readonly map?: readonly number[];
  /** Major and minor version, if given. From 1.0 on, the map precedes the data. */
  readonly major?: number;
  readonly minor?: number;
  /** Key of another program's sparse format. */
  readonly other?: string;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

class PaxError extends Error {}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const EQUALS = 0x3d;

/** Maximum bytes of a known key; longer ones are ignored. */
const LONGEST_KEY = 32;

/**
 * Reads the records of an extended header: `LENGTH KEY=VALUE\n`, where the length includes the whole record. If it is
 * damaged, reads up to the damage, and sets {@linkcode PaxFacts.damage}.
 *
 * @param bytes The records, in memory that the result may reference.
 * @param before Attributes from earlier headers.
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
      throw new PaxError(
        `has a record whose length of ${length} bytes does not fit`,
      );
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
  throw new PaxError(`has '${text}' in place of a size`);
}

/** Fractions of a millisecond are dropped. */
function timeOf(text: string): number {
  const seconds = /^-?\d+(\.\d*)?$/.test(text) ? Number(text) : NaN;
  return Math.abs(seconds) <= MOST_SECONDS ? Math.floor(seconds * 1000) : NaN;
}
