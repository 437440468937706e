import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedBytes } from "../../../tree/name_bytes.ts";
import { DIRECTORY_BIT } from "../../../tree/name_table.ts";
import {
  MOST_NAME_BYTES,
  NamesTooLongError,
} from "../../../tree/name_table_builder.ts";

/** Number of the root. */
export const ROOT_ENTRY = 0;

const FIRST_SLOTS = 1 << 12;
const FIRST_BYTES = 1 << 16;

/**
 * Directories and files as they come, each once: what the same path leads to is found by its directory and its name,
 * in a table of hashes, so that nothing is sorted and no text is made.
 */
export class PathTable {
  /** Per entry: its directory. */
  readonly parents = new GrowingNumbers(2 ** 32);
  readonly starts = new GrowingNumbers(2 ** 32);
  readonly ends = new GrowingNumbers(2 ** 32);
  /** Per entry: the record of a file, or `DIRECTORY_BIT`. */
  readonly refs = new GrowingNumbers(2 ** 32);
  /** Per entry: its time in milliseconds, or NaN where nothing says it. */
  readonly times = new GrowingNumbers();
  #names = new Uint8Array(new SharedArrayBuffer(FIRST_BYTES));
  #view = new DataView(this.#names.buffer);
  #namesLength = 0;
  /** Entries by their hashes; 0, the root, for none. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** Nobody who makes names may know which ones meet. */
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0]!;

  constructor() {
    this.#push(ROOT_ENTRY, 0, 0, DIRECTORY_BIT);
  }

  /** Number of entries, the root included. */
  get length(): number {
    return this.refs.length;
  }

  /** All names, in shared memory; more may come. */
  get names(): Uint8Array {
    return this.#names.subarray(0, this.#namesLength);
  }

  isDirectory(entry: number): boolean {
    return this.refs.at(entry) === DIRECTORY_BIT;
  }

  /** The entry of that name in a directory, or 0. */
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

  /** Adds an entry that is not there. */
  add(
    parent: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ref: number,
  ): number {
    const entry = this.length;
    if (entry >= DIRECTORY_BIT) throw new NamesTooLongError();
    const at = this.intern(bytes, start, end);
    this.#push(parent, at, this.#namesLength, ref);
    if (2 * entry >= this.#slots.length) this.#grow();
    else this.#place(entry);
    return entry;
  }

  /** Keeps bytes behind the names, and returns where. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#namesLength;
    const past = at + end - start;
    if (past > MOST_NAME_BYTES) throw new NamesTooLongError();
    if (past > this.#names.length) {
      const length = Math.min(Math.max(past, 2 * at), MOST_NAME_BYTES);
      const larger = new Uint8Array(new SharedArrayBuffer(length));
      larger.set(this.#names);
      this.#names = larger;
      this.#view = new DataView(larger.buffer);
    }
    const names = this.#names;
    for (let i = start, to = at; i < end; i++, to++) names[to] = bytes[i]!;
    this.#namesLength = past;
    return at;
  }

  /** Whether two names, each up to so many bytes, begin alike. */
  startAlike(a: number, b: number, length: number): boolean {
    return sharedBytes(this.#view, a, b, length) === length;
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
