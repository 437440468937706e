import { newSharedMemory } from "../../io/libc/new_memory.ts";
import { decodeName } from "../../base/names.ts";
import { GrowingNumbers } from "../growing_numbers.ts";
import { sharedBytes } from "../names/name_bytes.ts";
import { DIRECTORY_BIT, type NameTableColumns } from "../names/name_table.ts";
import {
  MOST_NAME_BYTES,
  NamesTooLongError,
  NameTableBuilder,
} from "../names/name_table_builder.ts";
import { isDot, PathFault, requireNames } from "./path_names.ts";
import { sharedFloat64 } from "../shared_numbers.ts";

export interface EntryTables {
  readonly names: NameTableColumns;
  /** Per entry: its node, or 0 if it is skipped. */
  readonly nodeOf: Uint32Array;
  /** Per node: its time in milliseconds since 1970, or NaN if none was given. */
  readonly times: Float64Array;
}

export const ROOT_ENTRY = 0;

/**
 * Finds the directory that an entry's link resolves to; -1 if there is none, or the entry is not a link. `makes`
 * creates missing directories. Throws a {@linkcode PathFault} if nothing may be below the link.
 */
export type FollowLink = (entry: number, makes: boolean) => number;

const FIRST_SLOTS = 1 << 12;
const FIRST_BYTES = 1 << 16;
const SLASH = 0x2f;

/**
 * Directories and files in order of arrival, each once; found by a hash of parent and name, without sorting or strings.
 */
export class PathEntries {
  /** Per entry: its directory. */
  readonly parents = new GrowingNumbers(2 ** 32);
  readonly starts = new GrowingNumbers(2 ** 32);
  readonly ends = new GrowingNumbers(2 ** 32);
  /** Per entry: the record of a file, or `DIRECTORY_BIT`. */
  readonly refs = new GrowingNumbers(2 ** 32);
  /** Per entry: its time in milliseconds, or NaN if unknown. */
  readonly times = new GrowingNumbers();
  #names = new Uint8Array(new SharedArrayBuffer(FIRST_BYTES));
  #view = new DataView(this.#names.buffer);
  #namesLength = 0;
  /** Hash table of entries; 0, the root, marks an empty slot. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** Random, so that crafted names cannot force collisions. */
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0]!;

  readonly #others: string;
  readonly #follow: FollowLink | undefined;
  /** Per entry: number of children. Computed on demand, since few archives need it. */
  #children: GrowingNumbers | undefined;
  // Directory of the previous path; most paths share it.
  #directory = new Uint8Array(0);
  #directoryEntry = ROOT_ENTRY;
  #hasFollowed = false;

  /**
   * @param others Word for entries that are not directories, for messages: `a file`.
   * @param follow Finds the directory that a link resolves to, below which members may lie. Without it, none may.
   */
  constructor(others: string, follow?: FollowLink) {
    this.#others = others;
    this.#follow = follow;
    this.#push(ROOT_ENTRY, 0, 0, DIRECTORY_BIT);
  }

  get length(): number {
    return this.refs.length;
  }

  /** All names so far, in shared memory. */
  get names(): Uint8Array {
    return this.#names.subarray(0, this.#namesLength);
  }

  isDirectory(entry: number): boolean {
    return this.refs.at(entry) === DIRECTORY_BIT;
  }

  /** Returns the entry of a name in a directory, or 0. */
  find(
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

  /** Adds an entry, which must not exist. */
  add(
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ref: number,
  ): number {
    const entry = this.length;
    if (entry >= DIRECTORY_BIT) throw new NamesTooLongError();
    const children = this.#children;
    if (children !== undefined) {
      children.push(0);
      children.set(parent, children.at(parent) + 1);
    }
    const at = this.intern(bytes, start, end);
    this.#push(parent, at, this.#namesLength, ref);
    if (2 * entry >= this.#slots.length) this.#grow();
    else this.#place(entry);
    return entry;
  }

  /** Replaces an empty directory with a record, as extracting programs do. Returns `false` if it is not empty. */
  replaceDirectory(entry: number, ref: number): boolean {
    this.#children ??= this.#countChildren();
    if (this.#children.at(entry) > 0) return false;
    this.refs.set(entry, ref);
    this.#directory = new Uint8Array(0); // it may be the cached one
    this.#directoryEntry = ROOT_ENTRY;
    return true;
  }

  #countChildren(): GrowingNumbers {
    const { parents, length } = this;
    const children = new GrowingNumbers(2 ** 32);
    for (let entry = 0; entry < length; entry++) children.push(0);
    for (let entry = 1; entry < length; entry++) {
      const parent = parents.at(entry);
      children.set(parent, children.at(parent) + 1);
    }
    return children;
  }

  /**
   * Returns the directory of part of a path.
   *
   * @param makes Whether to create missing directories; otherwise returns -1 if one is missing.
   * @throws {PathFault} If a name is invalid, or an earlier entry is in the way. Nothing was created then.
   */
  directoryOf(
    path: Uint8Array,
    start: number,
    end: number,
    makes = true,
  ): number {
    if (this.#isSameDirectory(path, start, end)) return this.#directoryEntry;
    requireNames(path, start, end);
    let at = ROOT_ENTRY;
    this.#hasFollowed = false;
    for (let from = start; from < end;) {
      let to = from;
      while (to < end && path[to] !== SLASH) to++;
      if (to > from && !isDot(path, from, to)) {
        at = this.directoryAt(at, path, start, from, to, makes);
        if (at < 0) return at;
      }
      from = to + 1;
    }
    if (this.#hasFollowed) return at; // the next member may replace the link
    this.#directory = path.slice(start, end);
    this.#directoryEntry = at;
    return at;
  }

  /**
   * Like {@linkcode PathEntries.directoryOf} for a single name; `start` is the start of the whole path, for messages.
   */
  directoryAt(
    parent: number,
    path: Uint8Array,
    start: number,
    from: number,
    to: number,
    makes = true,
  ): number {
    const entry = this.find(parent, path, from, to);
    if (entry !== 0 && this.isDirectory(entry)) return entry;
    const led = entry === 0 ? -1 : this.#follow?.(entry, makes) ?? -1;
    if (led >= 0) {
      this.#hasFollowed = true;
      return led;
    }
    if (!makes) return -1;
    if (entry === 0) return this.add(parent, path, from, to, DIRECTORY_BIT);
    const above = decodeName(path, start, to);
    throw new PathFault(
      "conflict",
      `needs the directory '${above}', which is ${this.#others} added earlier`,
    );
  }

  /**
   * Builds the name table, breadth first, with the entries of each directory in order of arrival.
   *
   * @param recordOf Maps a file's record to its final one; negative if it is skipped.
   * @param order All entries but the root in another order, which then applies in each directory.
   */
  finish(
    recordOf: (ref: number) => number,
    order?: Uint32Array,
  ): EntryTables {
    const { parents, refs, starts, ends, length } = this;
    // Group children by directory (counting sort).
    const firsts = new Uint32Array(length + 1);
    for (let entry = 1; entry < length; entry++) {
      firsts[parents.at(entry) + 1]!++;
    }
    for (let entry = 0; entry < length; entry++) {
      firsts[entry + 1]! += firsts[entry]!;
    }
    const next = firsts.slice();
    const children = new Uint32Array(length);
    for (let i = 1; i < length; i++) {
      const entry = order?.[i - 1] ?? i;
      children[next[parents.at(entry)]!++] = entry;
    }
    const builder = new NameTableBuilder(length, this.names);
    const nodeOf = new Uint32Array(length);
    const queue = [ROOT_ENTRY];
    nodeOf[ROOT_ENTRY] = 1;
    let node = 1;
    for (let directory = 0; directory < queue.length; directory++) {
      const parent = queue[directory]!;
      builder.nextDirectory();
      for (let i = firsts[parent]!; i < firsts[parent + 1]!; i++) {
        const entry = children[i]!;
        const ref = refs.at(entry);
        const [start, end] = [starts.at(entry), ends.at(entry)];
        if (ref === DIRECTORY_BIT) {
          builder.addDirectory(start, end);
          queue.push(entry);
        } else {
          const record = recordOf(ref);
          if (record < 0) continue;
          builder.addFile(start, end, record);
        }
        nodeOf[entry] = ++node;
      }
    }
    const table = builder.finish();
    const times = sharedFloat64(table.length);
    for (let entry = 0; entry < length; entry++) {
      const node = nodeOf[entry]!;
      if (node > 0) times[node - 1] = this.times.at(entry);
    }
    return { names: table.columns, nodeOf, times };
  }

  /** Appends bytes to the names, and returns their offset. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#namesLength;
    const past = at + end - start;
    if (past > MOST_NAME_BYTES) throw new NamesTooLongError();
    if (past > this.#names.length) {
      const length = Math.min(Math.max(past, 2 * at), MOST_NAME_BYTES);
      const larger = new Uint8Array(newSharedMemory(length));
      larger.set(this.#names);
      this.#names = larger;
      this.#view = new DataView(larger.buffer);
    }
    const names = this.#names;
    for (let i = start, to = at; i < end; i++, to++) names[to] = bytes[i]!;
    this.#namesLength = past;
    return at;
  }

  /** Whether two names have a common prefix of `length` bytes. */
  startAlike(a: number, b: number, length: number): boolean {
    return sharedBytes(this.#view, a, b, length) === length;
  }

  hash(parent: number, start: number, end: number): number {
    return this.#hash(parent, this.#names, start, end);
  }

  #isSameDirectory(path: Uint8Array, start: number, end: number): boolean {
    const directory = this.#directory;
    if (end - start !== directory.length) return false;
    for (let i = 0; i < directory.length; i++) {
      if (path[start + i] !== directory[i]) return false;
    }
    return true;
  }

  #push(parent: number, start: number, end: number, ref: number): void {
    this.parents.push(parent);
    this.starts.push(start);
    this.ends.push(end);
    this.refs.push(ref);
    this.times.push(NaN);
  }

  #is(
    entry: number,
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (this.parents.at(entry) !== parent) return false;
    const own = this.starts.at(entry);
    if (this.ends.at(entry) - own !== end - start) return false;
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
    const [start, end] = [this.starts.at(entry), this.ends.at(entry)];
    const parent = this.parents.at(entry);
    let slot = this.#hash(parent, this.#names, start, end) & mask;
    while (slots[slot] !== 0) slot = slot + 1 & mask;
    slots[slot] = entry;
  }

  #grow(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let entry = 1; entry < this.length; entry++) this.#place(entry);
  }
}
