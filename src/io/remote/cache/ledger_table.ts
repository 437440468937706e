import { Buffer } from "node:buffer";
import type { EntryFile } from "../../dirfd/entries.ts";
import { crc32Of } from "../../read/crc32_of.ts";

const MAGIC = new TextEncoder().encode("recordfs ledger\n");
/** Size of the header: {@linkcode MAGIC}, the counts as 64-bit floating point, and their CRC-32. */
const HEAD = 96;
const HEAD_SUM = HEAD - 4;
/** Size of a slot: name, bytes of the object as 64-bit floating point, CRC-32 of both, and the slot's kind. */
const SLOT = 32;
const NAME_BYTES = 16;
const BYTES_AT = NAME_BYTES;
const SUM_AT = BYTES_AT + 8;
const KIND_AT = SUM_AT + 4;
/** Kinds of slots. An unknown object was not inspected since the table was built; its slot has no size. */
const Kind = { Empty: 0, Known: 1, Removed: 2, Unknown: 3 } as const;
/** Slots of the smallest and the largest table. */
const FEWEST = 1 << 8;
const MOST = 1 << 26;
/** Slots read at a time to find one, and to iterate. */
const NEAR = 8;
const MANY = 512;
const UNKNOWN = -1;

export interface LedgerEntry {
  readonly name: string;
  /** `undefined` if the object was not inspected yet. */
  readonly bytes: number | undefined;
}

/** Thrown if the file is damaged and must be rebuilt. */
export class DamagedTable extends Error {
  constructor() {
    super("The ledger of the cache is damaged");
  }
}

/**
 * Hash table in a file, from names of objects to their sizes: linear probing, at most three quarters full. Finding,
 * adding and removing take constant time.
 */
export class LedgerTable {
  readonly #file: EntryFile;
  readonly #list: () => readonly string[];
  #slots = 0;
  /** Slots that are not empty. */
  #filled = 0;
  #count = 0;
  #unknown = 0;
  #total = 0;
  /** Position of the next iteration. */
  #hand = 0;
  #isListed = false;
  #isChanged = false;

  private constructor(file: EntryFile, list: () => readonly string[]) {
    this.#file = file;
    this.#list = list;
  }

  /** Reads the table of a file, or begins one. `list` returns the names of all existing objects. */
  static read(file: EntryFile, list: () => readonly string[]): LedgerTable {
    const table = new LedgerTable(file, list);
    return table.#readHead() ? table : LedgerTable.begin(file, list);
  }

  /** Begins a table, replacing the contents of the file. */
  static begin(file: EntryFile, list: () => readonly string[]): LedgerTable {
    const table = new LedgerTable(file, list);
    table.#write([], new Map());
    return table;
  }

  /** Whether it has all objects that existed when it was begun; before, it has only those opened since. */
  get isListed(): boolean {
    return this.#isListed;
  }

  list(): void {
    const known = this.#known();
    this.#isListed = true;
    this.#write(this.#list(), known);
  }

  get count(): number {
    return this.#count;
  }

  /** Number of objects not inspected since the table was built. */
  get unknown(): number {
    return this.#unknown;
  }

  /** Total size of all objects. Unknown ones count with the mean size of the others. */
  get bytes(): number {
    const known = this.#count - this.#unknown;
    const mean = known === 0 ? 0 : this.#total / known;
    return Math.floor(this.#total + this.#unknown * mean);
  }

  /** Returns the size of an object; `undefined` if it is missing or unknown. */
  bytesOf(name: string): number | undefined {
    const { bytes } = this.#find(keyOf(name));
    return bytes === undefined || bytes < 0 ? undefined : bytes;
  }

  set(name: string, bytes: number): void {
    const key = keyOf(name);
    let found = this.#find(key);
    if (found.bytes === undefined) {
      if (found.isEmpty && 4 * (this.#filled + 1) > 3 * this.#slots) {
        this.#grow();
        found = this.#find(key);
      }
    }
    const { bytes: before, at, isEmpty } = found;
    this.#isChanged = true;
    if (before === undefined) {
      this.#count++;
      if (isEmpty) this.#filled++;
    } else if (before < 0) this.#unknown--;
    else this.#total -= before;
    this.#total += bytes;
    const slot = new Uint8Array(SLOT);
    writeSlot(slot, 0, key, bytes);
    this.#file.write(slot, HEAD + at * SLOT);
  }

  remove(name: string): void {
    const { bytes, at } = this.#find(keyOf(name));
    if (bytes === undefined) return;
    this.#isChanged = true;
    this.#count--;
    if (bytes < 0) this.#unknown--;
    else this.#total -= bytes;
    const slot = new Uint8Array(SLOT);
    slot[KIND_AT] = Kind.Removed;
    this.#file.write(slot, HEAD + at * SLOT);
  }

  /**
   * Continues iterating over objects, unordered: all, or those not inspected yet. After each round, lists the directory
   * again, which others may have changed.
   */
  next(most: number, isUnknown = false): LedgerEntry[] {
    const found: LedgerEntry[] = [];
    const wanted = Math.min(most, isUnknown ? this.#unknown : this.#count);
    let rounds = 0;
    while (found.length < wanted) {
      if (this.#hand >= this.#slots) {
        if (rounds++ > 0) break;
        this.list();
      }
      const slots = this.#readSlots(this.#hand, MANY);
      const { length } = slots;
      for (let i = 0; i * SLOT < length && found.length < wanted; i++) {
        this.#hand++;
        const entry = this.#entryIn(slots, i);
        if (entry === undefined) continue;
        if (!isUnknown || entry.bytes === undefined) found.push(entry);
      }
    }
    this.#isChanged = true;
    return found;
  }

  /** Writes the header if it changed. */
  save(): void {
    if (this.#isChanged) this.#writeHead();
    this.#isChanged = false;
  }

  #readHead(): boolean {
    const head = new Uint8Array(HEAD);
    if (this.#file.read(head, 0) !== HEAD) return false;
    const view = new DataView(head.buffer);
    const isOwn = MAGIC.every((byte, i) => head[i] === byte) &&
      view.getUint32(HEAD_SUM, true) === crc32Of(head.subarray(0, HEAD_SUM));
    if (!isOwn) return false;
    const numbers = [0, 1, 2, 3, 4, 5].map((i) =>
      view.getFloat64(MAGIC.length + 8 * i, true)
    );
    if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0)) {
      return false;
    }
    const [total, count, unknown, filled, hand, isListed] = numbers as Six;
    const slots = (this.#file.facts().size - HEAD) / SLOT;
    const isTable = slots >= FEWEST && slots <= MOST &&
      Number.isInteger(Math.log2(slots)) && unknown <= count &&
      count <= filled && filled < slots;
    if (!isTable) return false;
    this.#total = total;
    this.#count = count;
    this.#unknown = unknown;
    this.#filled = filled;
    this.#hand = hand;
    this.#isListed = isListed === 1;
    this.#slots = slots;
    return true;
  }

  #writeHead(): void {
    const head = new Uint8Array(HEAD);
    head.set(MAGIC);
    const view = new DataView(head.buffer);
    const numbers: Six = [
      Math.max(0, this.#total),
      this.#count,
      this.#unknown,
      this.#filled,
      this.#hand,
      Number(this.#isListed),
    ];
    for (const [i, number] of numbers.entries()) {
      view.setFloat64(MAGIC.length + 8 * i, number, true);
    }
    view.setUint32(HEAD_SUM, crc32Of(head.subarray(0, HEAD_SUM)), true);
    this.#file.write(head, 0);
  }

  /** Returns the slot of a name, or where to add it. */
  #find(
    key: Uint8Array,
  ): { at: number; bytes: number | undefined; isEmpty: boolean } {
    const mask = this.#slots - 1;
    let free = -1;
    let at = startOf(key, this.#slots);
    for (let looked = 0; looked < this.#slots;) {
      const slots = this.#readSlots(at, NEAR);
      const view = new DataView(slots.buffer);
      for (let i = 0; i * SLOT < slots.length; i++, looked++) {
        const kind = view.getUint32(i * SLOT + KIND_AT, true);
        if (kind === Kind.Empty) {
          return free < 0
            ? { at: at + i, bytes: undefined, isEmpty: true }
            : { at: free, bytes: undefined, isEmpty: false };
        }
        if (kind === Kind.Removed) {
          if (free < 0) free = at + i;
          continue;
        }
        if (key.every((byte, k) => slots[i * SLOT + k] === byte)) {
          return { at: at + i, bytes: this.#bytesIn(slots, i), isEmpty: false };
        }
      }
      at = (at + slots.length / SLOT) & mask;
    }
    throw new DamagedTable();
  }

  /** Reads slots, at most to the end of the table. */
  #readSlots(first: number, most: number): Uint8Array<ArrayBuffer> {
    const count = Math.min(most, this.#slots - first);
    const slots = new Uint8Array(count * SLOT);
    const got = this.#file.read(slots, HEAD + first * SLOT);
    if (got !== slots.length) throw new DamagedTable();
    return slots;
  }

  #entryIn(
    slots: Uint8Array<ArrayBuffer>,
    i: number,
  ): LedgerEntry | undefined {
    const kind = slots[i * SLOT + KIND_AT];
    if (kind === Kind.Empty || kind === Kind.Removed) return undefined;
    const bytes = this.#bytesIn(slots, i);
    return { name: nameIn(slots, i), bytes: bytes < 0 ? undefined : bytes };
  }

  /** Returns the size in a slot, after checking its checksum. */
  #bytesIn(slots: Uint8Array<ArrayBuffer>, i: number): number {
    const slot = slots.subarray(i * SLOT, (i + 1) * SLOT);
    const view = new DataView(slot.buffer, slot.byteOffset);
    const kind = view.getUint32(KIND_AT, true);
    if (kind === Kind.Unknown) return UNKNOWN;
    const bytes = view.getFloat64(BYTES_AT, true);
    const isWhole = kind === Kind.Known &&
      view.getUint32(SUM_AT, true) === crc32Of(slot.subarray(0, SUM_AT)) &&
      Number.isSafeInteger(bytes) && bytes >= 0;
    if (!isWhole) throw new DamagedTable();
    return bytes;
  }

  #known(): Map<string, number> {
    const known = new Map<string, number>();
    for (let first = 0; first < this.#slots; first += MANY) {
      const slots = this.#readSlots(first, MANY);
      for (let i = 0; i * SLOT < slots.length; i++) {
        const entry = this.#entryIn(slots, i);
        if (entry?.bytes !== undefined) known.set(entry.name, entry.bytes);
      }
    }
    return known;
  }

  #grow(): void {
    const known = this.#known();
    const names = this.#isListed ? this.#list() : [...known.keys()];
    this.#write(names, known);
  }

  #write(names: readonly string[], known: ReadonlyMap<string, number>): void {
    this.#slots = FEWEST;
    while (this.#slots < 2 * names.length) this.#slots *= 2;
    const mask = this.#slots - 1;
    const table = new Uint8Array(this.#slots * SLOT);
    this.#total = this.#unknown = this.#hand = 0;
    for (const name of names) {
      const key = keyOf(name);
      const bytes = known.get(name) ?? UNKNOWN;
      if (bytes < 0) this.#unknown++;
      else this.#total += bytes;
      let at = startOf(key, this.#slots);
      while (table[at * SLOT + KIND_AT] !== Kind.Empty) at = (at + 1) & mask;
      writeSlot(table, at, key, bytes);
    }
    this.#count = this.#filled = names.length;
    // A process killed meanwhile leaves no table, and the next one begins it.
    this.#file.truncate(0);
    this.#file.write(table, HEAD);
    this.#writeHead();
    this.#isChanged = false;
  }
}

type Six = [number, number, number, number, number, number];

/** Returns the first slot to probe. Names are hashed, because in directories made by others they need not be hashes. */
function startOf(key: Uint8Array, slots: number): number {
  let hash = 0;
  for (let i = 0; i < NAME_BYTES; i++) {
    hash = Math.imul(hash ^ key[i]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash & (slots - 1);
}

function keyOf(name: string): Uint8Array {
  return Buffer.from(name, "hex");
}

function nameIn(slots: Uint8Array<ArrayBuffer>, i: number): string {
  return Buffer.from(slots.buffer, i * SLOT, NAME_BYTES).toString("hex");
}

function writeSlot(
  slots: Uint8Array<ArrayBuffer>,
  i: number,
  key: Uint8Array,
  bytes: number,
): void {
  const slot = slots.subarray(i * SLOT, (i + 1) * SLOT);
  slot.set(key);
  slot[KIND_AT] = bytes < 0 ? Kind.Unknown : Kind.Known;
  if (bytes < 0) return;
  const view = new DataView(slot.buffer, slot.byteOffset);
  view.setFloat64(BYTES_AT, bytes, true);
  view.setUint32(SUM_AT, crc32Of(slot.subarray(0, SUM_AT)), true);
}
