import type { FormatError } from "../../base/errors.ts";
import { encodeName } from "../../base/names.ts";
import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";
import type { DamagedPart, SkippedMembers } from "../archive/archive_notes.ts";
import type { ArchiveColumns } from "../archive/archive_tree.ts";
import { MemberPaths } from "../archive/member_paths.ts";
import type { SkippedMember } from "../format.ts";
import { GrowingNumbers } from "../growing_numbers.ts";
import { sharedBytes } from "../shared_numbers.ts";
import { KeyFault } from "./key_faults.ts";
import { isNumber, KeyNames, Suffix } from "./key_names.ts";

/** Tables of the values of a key-value store in one file, in shared memory. A record is a value. */
export interface KeyedColumns extends ArchiveColumns {
  /** Per value: its offset in the file. */
  readonly offsets: Float64Array;
  /** Per value: its length in bytes. */
  readonly lengths: Uint32Array;
  /** Per value: UTF-16 units of its name's suffix, which is not part of its key. */
  readonly suffixes: Uint8Array;
}

export interface KeyedIndex {
  readonly columns: KeyedColumns;
  readonly skipped: SkippedMembers;
  /** Damage in which no value can be found. */
  readonly damage: readonly DamagedPart[];
  /** Number of named databases. */
  readonly databases: number;
}

/** Most damaged parts that are listed. */
const MOST_DAMAGE = 1000;
/** Longest suffix that a column holds. */
const LONGEST_SUFFIX = 255;
const SEPARATOR = encodeName("/");
const NO_SUFFIX = new Suffix("");

/** Takes the values of key-value databases in order, and makes tables of them. */
export class KeyedBuilder {
  /** First damage that was found. */
  firstDamage: FormatError | undefined;
  readonly #paths: MemberPaths;
  readonly #ext: Suffix;
  readonly #onDamage: ((error: FormatError) => void) | undefined;
  readonly #offsets = new GrowingNumbers();
  readonly #lengths = new GrowingNumbers(2 ** 32);
  readonly #suffixes = new GrowingNumbers(2 ** 32);
  readonly #faults = new GrowingNumbers(2 ** 32);
  readonly #damage: DamagedPart[] = [];
  #databases = 0;
  #names = new KeyNames();
  /** Suffix of the database's media files. */
  #media = NO_SUFFIX;
  /** Suffix of the current value. */
  #suffix = NO_SUFFIX;
  #hasSeveral = false;
  /** Path of the current value. */
  #path = new Uint8Array(1024);
  /** Length of the database's part of the path, and of that with the key. */
  #databaseLength = 0;
  #keyLength = 0;
  /** Number of the next value of the key. */
  #number = 0;
  #hasFaults = false;

  /**
   * @param ext Suffix of names that are numbers.
   * @param on Called with everything that is skipped or damaged, including what is not listed.
   */
  constructor(path: string, ext: string, on: {
    readonly skip?: (member: SkippedMember) => void;
    readonly damage?: (error: FormatError) => void;
  } = {}) {
    this.#paths = new MemberPaths(path, { replaces: false, onSkip: on.skip });
    this.#ext = new Suffix(ext.slice(0, LONGEST_SUFFIX));
    this.#onDamage = on.damage;
  }

  /**
   * Begins a database.
   *
   * @param name `undefined` for one whose keys are in the root.
   * @param hasSeveral Whether keys may have several values: all are directories then.
   */
  database(name: Uint8Array | undefined, hasSeveral: boolean): void {
    this.#hasSeveral = hasSeveral;
    this.#databaseLength = 0;
    this.names(new KeyNames());
    if (name === undefined) return;
    this.#databases++;
    const shown = this.#names.nameOf(name, 0, name.length);
    const length = this.#append(0, shown);
    this.#paths.addDirectory(this.#path.slice(0, length), NaN);
    this.#databaseLength = this.#append(length, SEPARATOR);
  }

  /** Sets the names of the database's keys, before the first key. */
  names(names: KeyNames): void {
    this.#names = names;
    this.#media = new Suffix(names.suffix);
  }

  /**
   * Begins a key, which is valid only during the call.
   *
   * @param past End of its value, which follows the key; 0 if the value is apart.
   */
  key(bytes: Uint8Array, start: number, end: number, past: number): void {
    const name = this.#names.nameOf(bytes, start, end);
    this.#keyLength = this.#append(this.#databaseLength, name);
    this.#number = 0;
    this.#suffix = this.#hasSeveral
      ? this.#ext // of their numbers
      : this.#suffixOf(bytes, end, past);
  }

  /** Adds a value of the key. Names that end in a suffix get it again, so that all stay distinct. */
  value(offset: number, length: number, fault: number): void {
    let end = this.#keyLength;
    if (this.#hasSeveral) {
      const number = String(this.#number++).padStart(6, "0");
      end = this.#append(end, SEPARATOR);
      end = this.#append(end, encodeName(number));
    }
    end = this.#append(end, this.#suffix.bytes);
    const record = this.#offsets.length;
    const path = this.#path.subarray(0, end);
    if (this.#paths.addFile(path, record, NaN) === 0) return;
    this.#offsets.push(offset);
    this.#lengths.push(length);
    this.#suffixes.push(this.#suffix.text.length);
    this.#faults.push(fault);
  }

  damage(error: FormatError): void {
    this.firstDamage ??= error;
    this.#onDamage?.(error);
    const { code, message } = error;
    if (this.#damage.length < MOST_DAMAGE) this.#damage.push({ code, message });
  }

  /** Whether nothing was found to be damaged. */
  get isSound(): boolean {
    return this.firstDamage === undefined && !this.#hasFaults;
  }

  /** Makes the tables; throws FormatError if there are too many values. */
  finish(): KeyedIndex {
    const count = this.#offsets.length;
    const { names, nodes, links, targets } = this.#paths.finish(count);
    const faults = sharedBytes(this.#faults.finish());
    for (let record = 0; record < count; record++) {
      if (nodes[record] === 0) faults[record] = KeyFault.TWICE;
      this.#hasFaults ||= faults[record] !== KeyFault.NONE;
    }
    const columns: KeyedColumns = {
      ...{ names, nodes, links, targets, faults },
      offsets: this.#offsets.finish() as Float64Array,
      lengths: this.#lengths.finish() as Uint32Array,
      suffixes: sharedBytes(this.#suffixes.finish()),
    };
    const { facts: skipped } = this.#paths.skipped;
    const [damage, databases] = [this.#damage, this.#databases];
    return { columns, skipped, damage, databases };
  }

  /** Returns the suffix of a value that lies at `bytes[start … end]`, or apart if `end` is 0. */
  #suffixOf(bytes: Uint8Array, start: number, end: number): Suffix {
    const path = this.#path;
    const [from, to] = [this.#databaseLength, this.#keyLength];
    for (const suffix of [this.#ext, this.#media]) {
      if (suffix.bytes.length === 0) continue;
      if (suffix.ends(path, from, to)) return suffix;
      const isOf = suffix === this.#ext
        ? isNumber(path, from, to)
        : end === 0 ||
          sniffedSuffix(bytes.subarray(start, end)) === suffix.text;
      if (isOf) return suffix;
    }
    return NO_SUFFIX;
  }

  /** Writes a part of the path behind its first `length` bytes. Returns the new length. */
  #append(length: number, part: Uint8Array): number {
    const end = length + part.length;
    if (end > this.#path.length) {
      const longer = new Uint8Array(2 * end);
      longer.set(this.#path.subarray(0, length));
      this.#path = longer;
    }
    this.#path.set(part, length);
    return end;
  }
}
