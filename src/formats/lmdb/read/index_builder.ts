import type { FormatError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import type {
  DamagedPart,
  SkippedMembers,
} from "../../../tree/archive/archive_notes.ts";
import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";
import { MemberPaths } from "../../../tree/archive/member_paths.ts";
import type { SkippedMember } from "../../../tree/format.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedBytes } from "../../../tree/shared_numbers.ts";
import { type Database, DatabaseFlag } from "../layout.ts";
import { Fault } from "./faults.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import {
  AS_TEXT,
  isNumber,
  keyName,
  type KeyShape,
  type SampledEntry,
  shapeOf,
  Suffix,
} from "./key_names.ts";
import type { Found } from "./walk.ts";

/** Tables of a database file, in shared memory. A record is a value. */
export interface LmdbColumns extends ArchiveColumns {
  /** Per value: its offset in the file. */
  readonly offsets: Float64Array;
  /** Per value: its length in bytes. */
  readonly lengths: Uint32Array;
  /** Per value: UTF-16 units of its name's suffix, which is not part of its key. */
  readonly suffixes: Uint8Array;
}

export interface LmdbIndex {
  readonly columns: LmdbColumns;
  readonly skipped: SkippedMembers;
  /** Damage in which no value can be found. */
  readonly damage: readonly DamagedPart[];
  /** Number of named databases. */
  readonly databases: number;
}

/** Most damaged parts that are listed. */
const MOST_DAMAGE = 1000;
const SLASH = 0x2f;
/** Longest suffix that is recorded. */
const LONGEST_SUFFIX = 255;

/** Takes the values of a walk in order, and makes tables of them. */
export class IndexBuilder implements Found {
  /** First damage that was found. */
  firstDamage: FormatError | undefined;
  readonly #paths: MemberPaths;
  readonly #ext: Suffix;
  readonly #offsets = new GrowingNumbers();
  readonly #lengths = new GrowingNumbers(2 ** 32);
  readonly #suffixes = new GrowingNumbers(2 ** 32);
  readonly #faults = new GrowingNumbers(2 ** 32);
  readonly #damage: DamagedPart[] = [];
  #databases = 0;
  #shape: KeyShape = AS_TEXT;
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

  constructor(
    path: string,
    ext: string,
    onSkip?: (member: SkippedMember) => void,
  ) {
    this.#paths = new MemberPaths(path, { replaces: false, onSkip });
    this.#ext = new Suffix(ext.slice(0, LONGEST_SUFFIX));
  }

  database(
    name: Uint8Array | undefined,
    database: Database,
    entries: readonly SampledEntry[],
  ): void {
    this.#shape = shapeOf(database, entries);
    this.#media = new Suffix(this.#shape.suffix ?? "");
    this.#hasSeveral = (database.flags & DatabaseFlag.DUPLICATES) !== 0;
    this.#databaseLength = 0;
    if (name === undefined) return;
    this.#databases++;
    const length = this.#append(0, keyName(name, 0, name.length, AS_TEXT));
    this.#paths.addDirectory(this.#path.slice(0, length), NaN);
    this.#databaseLength = this.#append(length, SEPARATOR);
  }

  key(bytes: Uint8Array, start: number, end: number, past: number): void {
    const name = keyName(bytes, start, end, this.#shape);
    this.#keyLength = this.#append(this.#databaseLength, name);
    this.#number = 0;
    this.#suffix = this.#hasSeveral
      ? this.#ext // of their numbers
      : this.#suffixOf(bytes, end, past);
  }

  /** Returns the suffix of a value that lies at `bytes[start … end]`, or elsewhere if `end` is 0. */
  #suffixOf(bytes: Uint8Array, start: number, end: number): Suffix {
    const path = this.#path;
    const [from, to] = [this.#databaseLength, this.#keyLength];
    for (const suffix of [this.#ext, this.#media]) {
      if (suffix.bytes.length === 0) continue;
      if (suffix.ends(path, from, to)) return suffix;
      const isOf = suffix === this.#ext
        ? isNumber(path, from, to)
        : end === 0 ||
          sniffedSuffix(bytes.subarray(start, end)) === this.#shape.suffix;
      if (isOf) return suffix;
    }
    return NO_SUFFIX;
  }

  /** Number of values so far. */
  get length(): number {
    return this.#offsets.length;
  }

  value(
    offset: number,
    length: number,
    fault: number,
    _page: number,
  ): boolean {
    let end = this.#keyLength;
    if (this.#hasSeveral) {
      const number = String(this.#number++).padStart(6, "0");
      end = this.#append(end, SEPARATOR);
      end = this.#append(end, encodeName(number));
    }
    end = this.#append(end, this.#suffix.bytes);
    const record = this.#offsets.length;
    const path = this.#path.subarray(0, end);
    if (this.#paths.addFile(path, record, NaN) === 0) return false;
    this.#offsets.push(offset);
    this.#lengths.push(length);
    this.#suffixes.push(this.#suffix.text.length);
    this.#faults.push(fault);
    return true;
  }

  damage(error: FormatError): void {
    this.firstDamage ??= error;
    const { code, message } = error;
    if (this.#damage.length < MOST_DAMAGE) this.#damage.push({ code, message });
  }

  /** Makes the tables; throws FormatError if there are too many values. */
  finish(): LmdbIndex {
    const count = this.#offsets.length;
    const { names, nodes, links, targets } = this.#paths.finish(count);
    const faults = this.#bytesOf(this.#faults);
    for (let record = 0; record < count; record++) {
      if (nodes[record] === 0) faults[record] = Fault.TWICE;
    }
    const columns = {
      names,
      nodes,
      links,
      targets,
      faults,
      offsets: this.#offsets.finish() as Float64Array,
      lengths: this.#lengths.finish() as Uint32Array,
      suffixes: this.#bytesOf(this.#suffixes),
    };
    const { facts: skipped } = this.#paths.skipped;
    return {
      columns,
      skipped,
      damage: this.#damage,
      databases: this.#databases,
    };
  }

  #bytesOf(numbers: GrowingNumbers): Uint8Array {
    return sharedBytes(numbers.finish());
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

const NO_SUFFIX = new Suffix("");
const SEPARATOR = Uint8Array.of(SLASH);
