import { compareBytes, DIRECTORY_BIT, NameTable } from "./name_table.ts";

/** Why a name can't be an entry of a directory. */
export type NameFault = "empty" | "dots" | "slash" | "nul" | "long" | "twice";

/** Thrown by {@linkcode NameTableBuilder}; the caller knows the file and says so. */
export class NameFaultError extends Error {
  override name = "NameFaultError";
  readonly fault: NameFault;
  /** The name's bytes. */
  readonly bytes: Uint8Array;

  constructor(fault: NameFault, bytes: Uint8Array) {
    super(`A name that no directory can hold (${fault})`);
    this.fault = fault;
    this.bytes = bytes;
  }
}

/** Longest name the kernel's FUSE client passes on (`FUSE_NAME_MAX`, fs/fuse/fuse_i.h). */
const LONGEST_NAME = 1024;

/**
 * Builds a {@linkcode NameTable}: directories are filled in the order in which they were added
 * (the root first), each completely, which is breadth-first order.
 */
export class NameTableBuilder {
  readonly #nameStarts: Uint32Array;
  readonly #nameEnds: Uint32Array;
  readonly #refs: Uint32Array;
  readonly #directoryEntries = [0];
  readonly #firstChildren: number[] = [];
  readonly #recode: (bytes: Uint8Array) => Uint8Array;
  /** Directories whose entries are not in the order of their bytes. */
  readonly #unsorted = new Set<number>();
  /** Bytes of names that lie as they were stored; those behind are interned, and final. */
  readonly #storedLength: number;
  #names: Uint8Array;
  #namesLength: number;
  #entry = 1;
  /** All bytes of the last name or-ed, and of what it shared with those before. */
  #lastBits = 0;

  /**
   * @param mostEntries No more files and directories than that, without the root.
   * @param names Shared memory in which names lie, not copied; more can be added.
   * @param recode Turns a stored name that is not ASCII into the bytes it has on disk: the same
   * array where they are the same.
   */
  constructor(
    mostEntries: number,
    names: Uint8Array,
    recode: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
  ) {
    this.#nameStarts = sharedUint32(mostEntries + 1);
    this.#nameEnds = sharedUint32(mostEntries + 1);
    this.#refs = sharedUint32(mostEntries + 1);
    this.#names = names;
    this.#namesLength = names.length;
    this.#storedLength = names.length;
    this.#recode = recode;
    this.#refs[0] = DIRECTORY_BIT; // the root: entry 0, directory 0
  }

  /** Copies a name that does not lie in `names`, and returns where it lies from now on. */
  intern(name: Uint8Array): number {
    const start = this.#namesLength;
    const end = start + name.length;
    if (end > this.#names.length) {
      // By a quarter: beside a large structure there are few names of their own.
      const length = Math.max(end, start + (start >>> 2) + 65_536);
      const larger = new Uint8Array(new SharedArrayBuffer(length));
      larger.set(this.#names.subarray(0, start));
      this.#names = larger;
    }
    this.#names.set(name, start);
    this.#namesLength = end;
    return start;
  }

  /** Starts to fill the next directory. */
  nextDirectory(): void {
    this.#firstChildren.push(this.#entry);
  }

  /** Adds a file whose content is record `record` to the directory being filled. */
  addFile(start: number, end: number, record: number): void {
    if (record >= DIRECTORY_BIT) {
      throw new RangeError(`A tree of names has room for 2^31 records`);
    }
    this.#add(start, end, record);
  }

  /** Adds a directory to the one being filled. Its own turn comes after those added before. */
  addDirectory(start: number, end: number): void {
    const directory = this.#directoryEntries.push(this.#entry) - 1;
    this.#add(start, end, DIRECTORY_BIT + directory);
  }

  /**
   * The finished table.
   *
   * @throws {NameFaultError} If a directory has the same name twice.
   */
  finish(): NameTable {
    this.#firstChildren.push(this.#entry);
    return new NameTable({
      names: this.#names.subarray(0, this.#namesLength),
      nameStarts: trimmed(this.#nameStarts, this.#entry),
      nameEnds: trimmed(this.#nameEnds, this.#entry),
      refs: trimmed(this.#refs, this.#entry),
      directoryEntries: shared(this.#directoryEntries),
      firstChildren: shared(this.#firstChildren),
      sorted: this.#unsorted.size > 0 ? this.#sort() : undefined,
    });
  }

  #add(start: number, end: number, ref: number): void {
    const names = this.#names;
    const entry = this.#entry++;
    const directory = this.#firstChildren.length - 1;
    // What a name shares with the one before has been looked at there; neighbours share most.
    let at = start;
    if (entry > this.#firstChildren[directory]!) {
      let before = this.#nameStarts[entry - 1]!;
      const beforeEnd = this.#nameEnds[entry - 1]!;
      while (at < end && before < beforeEnd && names[at] === names[before]) {
        at++;
        before++;
      }
      const ascends = at < end &&
        (before === beforeEnd || names[at]! > names[before]!);
      if (!ascends) this.#unsorted.add(directory);
    }
    this.#refs[entry] = ref;
    this.#nameStarts[entry] = start;
    this.#nameEnds[entry] = end;
    let forbidden = end - start <= 2 || end - start > LONGEST_NAME;
    // A shared beginning may end inside a character: it counts as what the name before was.
    let bits = at > start ? this.#lastBits : 0;
    for (; at < end; at++) {
      const byte = names[at]!;
      bits |= byte;
      if (byte === 0x2f || byte === 0) forbidden = true;
    }
    if (forbidden) refuseBadName(names.slice(start, end));
    this.#lastBits = bits;
    if (bits >= 0x80 && start < this.#storedLength) {
      this.#recodeEntry(entry, directory);
    }
  }

  #recodeEntry(entry: number, directory: number): void {
    const [start, end] = [this.#nameStarts[entry]!, this.#nameEnds[entry]!];
    const stored = this.#names.slice(start, end);
    const recoded = this.#recode(stored);
    if (recoded === stored) return;
    this.#nameStarts[entry] = this.intern(recoded);
    this.#nameEnds[entry] = this.#namesLength;
    this.#unsorted.add(directory); // maybe: recoded bytes may order otherwise
  }

  /** The entries of each directory, sorted; only some were not. */
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

/** Throws if the name is one that no directory can hold. */
function refuseBadName(name: Uint8Array): void {
  const dots = name.every((byte) => byte === 0x2e);
  if (name.length === 0) throw new NameFaultError("empty", name);
  if (dots && name.length <= 2) throw new NameFaultError("dots", name);
  if (name.includes(0x2f)) throw new NameFaultError("slash", name);
  if (name.includes(0)) throw new NameFaultError("nul", name);
  if (name.length > LONGEST_NAME) throw new NameFaultError("long", name);
}

function sharedUint32(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}

function trimmed(column: Uint32Array, length: number): Uint32Array {
  if (column.length === length) return column;
  return shared(column.subarray(0, length));
}

function shared(values: ArrayLike<number>): Uint32Array {
  const column = sharedUint32(values.length);
  column.set(values);
  return column;
}
