import { viewOf } from "../../base/view_of.ts";
import { newSharedMemory } from "../../io/libc/new_memory.ts";
import { bitsOf, sharedBytes } from "./name_bytes.ts";
import { compareBytes, DIRECTORY_BIT, NameTable } from "./name_table.ts";
import { sharedUint32 } from "../shared_numbers.ts";

/** Why a name cannot be a directory entry. */
export type NameFault = "empty" | "dots" | "slash" | "nul" | "long" | "twice";

/** Thrown by {@linkcode NameTableBuilder}; the caller adds the file to the message. */
export class NameFaultError extends Error {
  override name = "NameFaultError";
  readonly fault: NameFault;
  readonly bytes: Uint8Array;

  constructor(fault: NameFault, bytes: Uint8Array) {
    super(`A name that no directory can hold (${fault})`);
    this.fault = fault;
    this.bytes = bytes;
  }
}

/** Longest name that the kernel's FUSE client accepts (`FUSE_NAME_MAX`, fs/fuse/fuse_i.h). */
export const LONGEST_NAME = 1024;

/** Maximum number of records in one table. */
export const MOST_RECORDS = DIRECTORY_BIT;

/** Offsets of names are stored in 32 bits. */
export const MOST_NAME_BYTES = 2 ** 32 - 1;

/** Thrown by {@linkcode NameTableBuilder} if all names together exceed its limit. */
export class NamesTooLongError extends Error {
  override name = "NamesTooLongError";
}

/** Columns of files to add. */
export interface FileBatch {
  readonly length: number;
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/**
 * Builds a {@linkcode NameTable} breadth first: directories must be filled completely, in the order of their addition.
 */
export class NameTableBuilder {
  readonly #nameStarts: Uint32Array;
  readonly #nameEnds: Uint32Array;
  readonly #refs: Uint32Array;
  readonly #directoryEntries = [0];
  readonly #firstChildren: number[] = [];
  readonly #recode: (bytes: Uint8Array) => Uint8Array;
  readonly #unsorted = new Set<number>();
  /** Length of the stored names; bytes after that are interned and already recoded. */
  readonly #storedLength: number;
  readonly #mostNameBytes: number;
  #names: Uint8Array;
  #view: DataView;
  #namesLength: number;
  #entry = 1;
  /** All bytes of the last name or-ed, including its prefix shared with names before. */
  #lastBits = 0;

  /**
   * @param mostEntries Maximum number of files and directories, without the root.
   * @param names Shared memory that contains names; not copied. More can be added.
   * @param recode Converts a stored non-ASCII name to its bytes on disk; returns the same array if they are equal.
   */
  constructor(
    mostEntries: number,
    names: Uint8Array,
    recode: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
    mostNameBytes = MOST_NAME_BYTES,
  ) {
    this.#mostNameBytes = mostNameBytes;
    this.#nameStarts = sharedUint32(mostEntries + 1);
    this.#nameEnds = sharedUint32(mostEntries + 1);
    this.#refs = sharedUint32(mostEntries + 1);
    this.#names = names;
    this.#view = viewOf(names);
    this.#namesLength = names.length;
    this.#storedLength = names.length;
    this.#recode = recode;
    this.#refs[0] = DIRECTORY_BIT; // the root: entry 0, directory 0
  }

  /** Copies a name that is not in `names`, and returns its offset. */
  intern(name: Uint8Array): number {
    const start = this.#namesLength;
    const end = start + name.length;
    if (end > this.#mostNameBytes) throw new NamesTooLongError();
    if (end > this.#names.length) {
      // Grows by a quarter only: next to large stored names, few are interned.
      const length = Math.max(end, start + (start >>> 2) + 65_536);
      const larger = new Uint8Array(newSharedMemory(length));
      larger.set(this.#names.subarray(0, start));
      this.#names = larger;
      this.#view = viewOf(larger);
    }
    this.#names.set(name, start);
    this.#namesLength = end;
    return start;
  }

  nextDirectory(): void {
    this.#firstChildren.push(this.#entry);
  }

  addFile(start: number, end: number, record: number): void {
    if (record >= MOST_RECORDS) {
      throw tooManyRecords();
    }
    this.#add(start, end, record);
  }

  /** Adds files to the current directory, with `base` added to the positions of names and `first` to the records. */
  addFiles(
    { length, starts, ends, values }: FileBatch,
    base: number,
    first: number,
  ): void {
    const from = this.#entry;
    const [nameStarts, nameEnds] = [this.#nameStarts, this.#nameEnds];
    const refs = this.#refs;
    for (let i = 0; i < length; i++) {
      const record = values[i]! + first;
      if (record >= MOST_RECORDS) throw tooManyRecords();
      nameStarts[from + i] = starts[i]! + base;
      nameEnds[from + i] = ends[i]! + base;
      refs[from + i] = record;
    }
    this.#entry = from + length;
    this.#look(from);
  }

  /** Adds a directory to the current one. It must be filled after those added before. */
  addDirectory(start: number, end: number): void {
    const directory = this.#directoryEntries.push(this.#entry) - 1;
    this.#add(start, end, DIRECTORY_BIT + directory);
  }

  /** Throws a {@linkcode NameFaultError} if a directory has a duplicate name. */
  finish(): NameTable {
    this.#firstChildren.push(this.#entry);
    return new NameTable({
      names: this.#names.subarray(0, this.#namesLength),
      nameStarts: trimmed(this.#nameStarts, this.#entry),
      nameEnds: trimmed(this.#nameEnds, this.#entry),
      refs: trimmed(this.#refs, this.#entry),
      directoryEntries: sharedUint32(this.#directoryEntries),
      firstChildren: sharedUint32(this.#firstChildren),
      sorted: this.#unsorted.size > 0 ? this.#sort() : undefined,
    });
  }

  #add(start: number, end: number, ref: number): void {
    const entry = this.#entry++;
    this.#refs[entry] = ref;
    this.#nameStarts[entry] = start;
    this.#nameEnds[entry] = end;
    this.#look(entry);
  }

  /** Validates the names of the entries from `from` on, which are new in the directory. */
  #look(from: number): void {
    const directory = this.#firstChildren.length - 1;
    const first = this.#firstChildren[directory]!;
    const [starts, ends] = [this.#nameStarts, this.#nameEnds];
    let lastBits = this.#lastBits;
    for (let entry = from; entry < this.#entry; entry++) {
      const view = this.#view;
      const start = starts[entry]!;
      const length = ends[entry]! - start;
      // The prefix shared with the name before was validated there; neighbours share most of their bytes.
      let shared = 0;
      if (entry > first) {
        const before = starts[entry - 1]!;
        const lengthBefore = ends[entry - 1]! - before;
        const most = Math.min(length, lengthBefore);
        shared = sharedBytes(view, before, start, most);
        const ascends = shared < length && (shared === lengthBefore ||
          view.getUint8(start + shared) > view.getUint8(before + shared));
        if (!ascends) this.#unsorted.add(directory);
      }
      // A shared prefix may end inside a character: it counts as ASCII or not as the whole name before did.
      if (shared === 0) lastBits = 0;
      lastBits |= bitsOf(view, start + shared, start + length);
      if (length <= 2 || length > LONGEST_NAME || lastBits < 0) {
        refuseBadName(this.#names.slice(start, start + length));
      }
      if (lastBits >= 0x80 && start < this.#storedLength) {
        this.#recodeEntry(entry, directory);
      }
    }
    this.#lastBits = lastBits;
  }

  #recodeEntry(entry: number, directory: number): void {
    const [start, end] = [this.#nameStarts[entry]!, this.#nameEnds[entry]!];
    const stored = this.#names.slice(start, end);
    const recoded = this.#recode(stored);
    if (recoded === stored) return;
    this.#nameStarts[entry] = this.intern(recoded);
    this.#nameEnds[entry] = this.#namesLength;
    this.#unsorted.add(directory); // recoding may change the order
  }

  /** Returns the entries of each directory, sorted. Only unsorted directories need work. */
  #sort(): Uint32Array {
    const sorted = sharedUint32(this.#entry);
    for (let entry = 0; entry < this.#entry; entry++) sorted[entry] = entry;
    for (const directory of this.#unsorted) {
      const entries = sorted.subarray(
        this.#firstChildren[directory]!,
        this.#firstChildren[directory + 1]!,
      );
      entries.sort((a, b) => this.#compare(a, b));
      for (let i = 1; i < entries.length; i++) {
        const entry = entries[i]!;
        if (this.#compare(entries[i - 1]!, entry) !== 0) continue;
        const from = this.#nameStarts[entry]!;
        const name = this.#names.slice(from, this.#nameEnds[entry]!);
        throw new NameFaultError("twice", name);
      }
    }
    return sorted;
  }

  #compare(a: number, b: number): number {
    const names = this.#names;
    const [starts, ends] = [this.#nameStarts, this.#nameEnds];
    return compareBytes(
      names,
      starts[a]!,
      ends[a]!,
      names,
      starts[b]!,
      ends[b]!,
    );
  }
}

function refuseBadName(name: Uint8Array): void {
  const dots = name.every((byte) => byte === 0x2e);
  if (name.length === 0) throw new NameFaultError("empty", name);
  if (dots && name.length <= 2) throw new NameFaultError("dots", name);
  if (name.includes(0x2f)) throw new NameFaultError("slash", name);
  if (name.includes(0)) throw new NameFaultError("nul", name);
  if (name.length > LONGEST_NAME) throw new NameFaultError("long", name);
}

function tooManyRecords(): RangeError {
  return new RangeError(`A tree of names has room for 2^31 records`);
}

/** Removes unused space from a column; copies it only if that saves more than an eighth. */
function trimmed(column: Uint32Array, length: number): Uint32Array {
  const used = column.subarray(0, length);
  return length >= column.length - (column.length >>> 3)
    ? used
    : sharedUint32(used);
}
