import { decodeName } from "../names.ts";
import { GrowingNumbers } from "./growing_numbers.ts";
import { DIRECTORY_BIT, type NameTableColumns } from "./name_table.ts";
import {
  LONGEST_NAME,
  MOST_NAME_BYTES,
  NamesTooLongError,
  NameTableBuilder,
} from "./name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "./shared_numbers.ts";

/** Thrown for a path that no directory can show; whoever knows the file says so. */
export class PathFault extends Error {
  override name = "PathFault";
  /** Whether it would lead out, or is none at all; otherwise it does not go with the paths before it. */
  readonly isUnsafe: boolean;

  constructor(isUnsafe: boolean, why: string) {
    super(why);
    this.isUnsafe = isUnsafe;
  }
}

/** What paths have become. */
export interface PathTables {
  readonly names: NameTableColumns;
  /** Per record: its node, or 0 where a later one has its path. */
  readonly nodes: Uint32Array;
  /** Per node: its time in milliseconds since 1970, or NaN where none was given. */
  readonly times: Float64Array;
}

const ROOT_ENTRY = 0;
const FIRST_SLOTS = 1 << 12;
const FIRST_BYTES = 1 << 16;
const DOT = 0x2e;
const SLASH = 0x2f;

/**
 * Paths of archives as they come, in bytes, each with a record: what would be there if all were extracted, one after the
 * other. Directories that nobody names are made; of files of one path, the last one is there.
 *
 * A path is found by its directory and name in a table of hashes: nothing is sorted, and no text is made.
 */
export class PathTree {
  // Per entry, of which the root is the first: its directory, its name, its record (or that it is a directory), its time.
  readonly #parents = new GrowingNumbers(2 ** 32);
  readonly #starts = new GrowingNumbers(2 ** 32);
  readonly #ends = new GrowingNumbers(2 ** 32);
  readonly #refs = new GrowingNumbers(2 ** 32);
  readonly #times = new GrowingNumbers();
  #names = new Uint8Array(new SharedArrayBuffer(FIRST_BYTES));
  #namesLength = 0;
  /** Entries by their hashes; 0, the root, for none. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** Nobody who makes names may know which ones meet. */
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0]!;
  // The directory of the path before: most have it as well.
  #directory = new Uint8Array(0);
  #directoryEntry = ROOT_ENTRY;

  constructor() {
    this.#push(ROOT_ENTRY, 0, 0, DIRECTORY_BIT);
  }

  /**
   * Adds a file.
   *
   * @param record Its number.
   * @param time When it was modified, in milliseconds since 1970.
   * @throws {PathFault} If its path is none of a file, or is a directory before.
   */
  addFile(
    path: Uint8Array,
    start: number,
    end: number,
    record: number,
    time: number,
  ): void {
    requireRelative(path, start, end);
    let name = end;
    while (name > start && path[name - 1] !== SLASH) name--;
    if (name === end || isDot(path, name, end)) {
      throw new PathFault(true, "has no name that a file can have");
    }
    requireName(path, name, end);
    const parent = this.#directoryOf(path, start, name);
    let entry = this.#find(parent, path, name, end);
    if (entry === 0) entry = this.#add(parent, path, name, end, record);
    else if (this.#refs.at(entry) === DIRECTORY_BIT) {
      throw new PathFault(false, "is a directory before, and then a file");
    } else this.#refs.set(entry, record);
    this.#times.set(entry, time);
  }

  /**
   * Adds a directory; it may be there.
   *
   * @throws {PathFault} If its path is none of a directory, or is a file before.
   */
  addDirectory(
    path: Uint8Array,
    start: number,
    end: number,
    time: number,
  ): void {
    requireRelative(path, start, end);
    const entry = this.#directoryOf(path, start, end);
    if (entry !== ROOT_ENTRY) this.#times.set(entry, time);
  }

  /**
   * Makes the tables: entries breadth first, in each directory in the order in which they came.
   *
   * @param records How many there are.
   */
  finish(records: number): PathTables {
    const length = this.#refs.length;
    const [parents, refs] = [this.#parents, this.#refs];
    // The children of each directory, one behind the other.
    const firsts = new Uint32Array(length + 1);
    for (let entry = 1; entry < length; entry++) {
      firsts[parents.at(entry) + 1]!++;
    }
    for (let entry = 0; entry < length; entry++) {
      firsts[entry + 1]! += firsts[entry]!;
    }
    const next = firsts.slice();
    const children = new Uint32Array(length);
    for (let entry = 1; entry < length; entry++) {
      children[next[parents.at(entry)]!++] = entry;
    }
    const stored = this.#names.subarray(0, this.#namesLength);
    const builder = new NameTableBuilder(length, stored);
    const nodes = sharedUint32(records);
    const times = sharedFloat64(length);
    times[0] = NaN;
    const queue = [ROOT_ENTRY];
    let node = 1;
    for (let directory = 0; directory < queue.length; directory++) {
      const parent = queue[directory]!;
      builder.nextDirectory();
      for (let i = firsts[parent]!; i < firsts[parent + 1]!; i++) {
        const entry = children[i]!;
        const ref = refs.at(entry);
        const [start, end] = [this.#starts.at(entry), this.#ends.at(entry)];
        times[node++] = this.#times.at(entry);
        if (ref === DIRECTORY_BIT) {
          builder.addDirectory(start, end);
          queue.push(entry);
        } else {
          builder.addFile(start, end, ref);
          nodes[ref] = node;
        }
      }
    }
    return { names: builder.finish().columns, nodes, times };
  }

  #directoryOf(path: Uint8Array, start: number, end: number): number {
    if (this.#isSameDirectory(path, start, end)) return this.#directoryEntry;
    let at = ROOT_ENTRY;
    for (let from = start; from < end;) {
      let to = from;
      while (to < end && path[to] !== SLASH) to++;
      if (to > from && !isDot(path, from, to)) {
        requireName(path, from, to);
        at = this.#directoryAt(at, path, start, from, to);
      }
      from = to + 1;
    }
    this.#directory = path.slice(start, end);
    this.#directoryEntry = at;
    return at;
  }

  #isSameDirectory(path: Uint8Array, start: number, end: number): boolean {
    const directory = this.#directory;
    if (end - start !== directory.length) return false;
    for (let i = 0; i < directory.length; i++) {
      if (path[start + i] !== directory[i]) return false;
    }
    return true;
  }

  #directoryAt(
    parent: number,
    path: Uint8Array,
    start: number,
    from: number,
    to: number,
  ): number {
    const entry = this.#find(parent, path, from, to);
    if (entry === 0) return this.#add(parent, path, from, to, DIRECTORY_BIT);
    if (this.#refs.at(entry) === DIRECTORY_BIT) return entry;
    const above = decodeName(path, start, to);
    throw new PathFault(
      false,
      `needs the directory '${above}', which is a file before`,
    );
  }

  #find(
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    const mask = this.#slots.length - 1;
    const hash = this.#hash(parent, bytes, start, end);
    for (let slot = hash & mask;; slot = slot + 1 & mask) {
      const entry = this.#slots[slot]!;
      if (entry === 0 || this.#is(entry, parent, bytes, start, end)) {
        return entry;
      }
    }
  }

  #add(
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ref: number,
  ): number {
    const entry = this.#refs.length;
    if (entry >= DIRECTORY_BIT) throw new NamesTooLongError();
    const at = this.#namesLength;
    const past = at + end - start;
    if (past > MOST_NAME_BYTES) throw new NamesTooLongError();
    if (past > this.#names.length) {
      const length = Math.min(Math.max(past, 2 * at), MOST_NAME_BYTES);
      const larger = new Uint8Array(new SharedArrayBuffer(length));
      larger.set(this.#names);
      this.#names = larger;
    }
    const names = this.#names;
    for (let i = start, to = at; i < end; i++, to++) names[to] = bytes[i]!;
    this.#namesLength = past;
    this.#push(parent, at, past, ref);
    if (2 * entry >= this.#slots.length) this.#grow();
    else this.#place(entry);
    return entry;
  }

  #push(parent: number, start: number, end: number, ref: number): void {
    this.#parents.push(parent);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#refs.push(ref);
    this.#times.push(NaN);
  }

  #is(
    entry: number,
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (this.#parents.at(entry) !== parent) return false;
    const own = this.#starts.at(entry);
    if (this.#ends.at(entry) - own !== end - start) return false;
    const names = this.#names;
    for (let i = start, k = own; i < end; i++, k++) {
      if (bytes[i] !== names[k]) return false;
    }
    return true;
  }

  #hash(
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    let hash = Math.imul(parent ^ this.#seed, 0x9e3779b1);
    for (let i = start; i < end; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
    return hash ^ hash >>> 13;
  }

  #place(entry: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const [start, end] = [this.#starts.at(entry), this.#ends.at(entry)];
    const parent = this.#parents.at(entry);
    let slot = this.#hash(parent, this.#names, start, end) & mask;
    while (slots[slot] !== 0) slot = slot + 1 & mask;
    slots[slot] = entry;
  }

  #grow(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let entry = 1; entry < this.#refs.length; entry++) this.#place(entry);
  }
}

function requireRelative(path: Uint8Array, start: number, end: number): void {
  if (start === end) throw new PathFault(true, "has no name");
  if (path[start] === SLASH) throw new PathFault(true, "is an absolute path");
}

function requireName(path: Uint8Array, start: number, end: number): void {
  if (
    end - start === 2 && path[start] === DOT && path[start + 1] === DOT
  ) throw new PathFault(true, "leads out by '..'");
  if (end - start > LONGEST_NAME) {
    throw new PathFault(true, `has a name of ${end - start} bytes`);
  }
  for (let i = start; i < end; i++) {
    if (path[i] === 0) throw new PathFault(true, "has a NUL in its name");
  }
}

function isDot(path: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && path[start] === DOT;
}
