import { FormatError } from "../../../errors.ts";
import { decodeName } from "../../../names.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { DIRECTORY_BIT } from "../../../tree/name_table.ts";
import {
  LONGEST_NAME,
  NamesTooLongError,
} from "../../../tree/name_table_builder.ts";
import { LinkResolver, OUTSIDE } from "./link_resolver.ts";
import { makeColumns } from "./make_columns.ts";
import { PathTable, ROOT_ENTRY } from "./path_table.ts";
import type { TarIndex } from "./tar_columns.ts";
import { memberError } from "./tar_error.ts";

const DOT = 0x2e;
const SLASH = 0x2f;

/** Marks an entry that is not shown. */
export const LEFT_OUT = DIRECTORY_BIT - 1;

/** Longest path of a link in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_LINK = 4095;

/** Members that are named which were left out; of all others only how many there are is said. */
const MOST_NAMED = 5;

/** Takes the members of a tar in their order, and makes tables of what is there at the end, as if it were extracted. */
export class TarBuilder {
  readonly paths = new PathTable();
  /** Per record. */
  readonly offsets = new GrowingNumbers();
  /** Per record; of links less than 0. */
  readonly sizes = new GrowingNumbers();
  /** Per record: its entry, which may have become another record's. */
  readonly entries = new GrowingNumbers(2 ** 32);
  readonly #path: string;
  readonly #leftOut: string[] = [];
  #leftOutCount = 0;
  // The directory of the member before: most have it as well.
  #directory = new Uint8Array(0);
  #directoryEntry = ROOT_ENTRY;
  // The path of the link before.
  #link = new Uint8Array(0);
  #linkStart = 0;
  // What a path was taken apart to.
  #parent = ROOT_ENTRY;
  #start = 0;
  #end = 0;

  /** @param path The tar, for messages. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a file, in the place of what has had its path. */
  addFile(name: Uint8Array, offset: number, size: number, time: number): void {
    this.#addRecord(name, offset, size, time);
  }

  /** Adds a directory, if it is not there. */
  addDirectory(name: Uint8Array, time: number): void {
    this.#split(name, true);
    const entry = this.#start === this.#end
      ? this.#parent
      : this.#directoryAt(this.#parent, name, this.#start, this.#end, true);
    this.paths.times.set(entry, time);
  }

  /** Adds a symbolic link. */
  addLink(name: Uint8Array, target: Uint8Array, time: number): void {
    if (target.length > LONGEST_LINK || target.includes(0)) {
      return this.leaveOut(name, "a link to a path that no system follows");
    }
    this.#addRecord(name, this.#keepLink(target), -1 - target.length, time);
  }

  /** Adds another name of a file that came before. */
  addHardLink(name: Uint8Array, target: Uint8Array): void {
    this.#split(target, false);
    const record = this.#recordOf(target);
    if (record === undefined) {
      return this.leaveOut(
        name,
        `a hard link to '${
          decodeName(target)
        }', and no such file comes before it`,
      );
    }
    const [offset, size] = [this.offsets.at(record), this.sizes.at(record)];
    const time = this.paths.times.at(this.entries.at(record));
    this.#addRecord(name, offset, size, time);
  }

  /** Leaves a member out, which the index says. */
  leaveOut(name: Uint8Array, what: string): void {
    if (++this.#leftOutCount > MOST_NAMED) return;
    this.#leftOut.push(
      `${this.#path}: '${decodeName(name)}' is left out: it is ${what}`,
    );
  }

  /** The tables of all that was added. */
  finish(): TarIndex {
    try {
      const targets = this.#resolveLinks();
      const columns = makeColumns(this, targets);
      const more = this.#leftOutCount - this.#leftOut.length;
      const warnings = more > 0
        ? [...this.#leftOut, `${this.#path}: ${more} more are left out as well`]
        : this.#leftOut;
      return { columns, warnings };
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** By the entries of links: the entries that they lead to. Those that lead out are left out. */
  #resolveLinks(): ReadonlyMap<number, number> {
    const { paths, entries, offsets, sizes } = this;
    const targets = new Map<number, number>();
    const pathOf = (record: number) => {
      if (record >= entries.length || !(sizes.at(record) < 0)) return undefined;
      const start = offsets.at(record);
      return { start, end: start - sizes.at(record) - 1 };
    };
    const resolver = new LinkResolver({ paths, pathOf });
    for (let record = 0; record < entries.length; record++) {
      const entry = entries.at(record);
      if (sizes.at(record) >= 0 || paths.refs.at(entry) !== record) continue;
      targets.set(entry, resolver.resolve(entry));
    }
    for (const [entry, target] of targets) {
      if (target !== OUTSIDE) continue;
      const { start, end } = pathOf(paths.refs.at(entry))!;
      const to = decodeName(paths.names, start, end);
      this.leaveOut(this.#nameOf(entry), `a link that leads out, to '${to}'`);
      paths.refs.set(entry, LEFT_OUT);
    }
    return targets;
  }

  /** Where the path of a link stands; a header may give the same one to any number of links. */
  #keepLink(target: Uint8Array): number {
    const before = this.#link;
    const isSame = target.length === before.length &&
      target.every((byte, i) => byte === before[i]);
    if (!isSame) {
      this.#link = target.slice();
      this.#linkStart = this.paths.intern(target, 0, target.length);
    }
    return this.#linkStart;
  }

  #nameOf(entry: number): Uint8Array {
    const parts: Uint8Array[] = [];
    const { paths } = this;
    for (let at = entry; at !== ROOT_ENTRY; at = paths.parents.at(at)) {
      parts.unshift(paths.names.slice(paths.starts.at(at), paths.ends.at(at)));
    }
    const length = parts.reduce((sum, part) => sum + part.length + 1, -1);
    const name = new Uint8Array(length).fill(SLASH);
    let at = 0;
    for (const part of parts) {
      name.set(part, at);
      at += part.length + 1;
    }
    return name;
  }

  #addRecord(
    name: Uint8Array,
    offset: number,
    size: number,
    time: number,
  ): void {
    const { paths } = this;
    this.#split(name, true);
    const record = this.entries.length;
    if (this.#start === this.#end || record >= LEFT_OUT) {
      throw this.#fault(name, "has no name that a file can have");
    }
    const [parent, start, end] = [this.#parent, this.#start, this.#end];
    let entry = paths.find(parent, name, start, end);
    if (entry === 0) entry = this.#add(parent, name, start, end, record);
    else if (paths.isDirectory(entry)) {
      throw this.#fault(name, "is a directory before, and then a file");
    } else paths.refs.set(entry, record);
    paths.times.set(entry, time);
    this.entries.push(entry);
    this.offsets.push(offset);
    this.sizes.push(size);
  }

  /** The record of the path that was taken apart, unless it is none of a file or link. */
  #recordOf(name: Uint8Array): number | undefined {
    const entry = this.#parent < 0 || this.#start === this.#end
      ? 0
      : this.paths.find(this.#parent, name, this.#start, this.#end);
    return entry === 0 || this.paths.isDirectory(entry)
      ? undefined
      : this.paths.refs.at(entry);
  }

  /**
   * Takes a path apart: its directory, and where its last name starts and ends; nothing of the root.
   *
   * @param makes Whether directories are made that are not there; otherwise there is none (-1) then.
   */
  #split(name: Uint8Array, makes: boolean): void {
    let end = name.length;
    // `a/.` and `a//` are `a`.
    for (;;) {
      if (end > 0 && name[end - 1] === SLASH) end--;
      else if (end > 0 && isDot(name, end - 1, end, SLASH)) end--;
      else break;
    }
    let start = end;
    while (start > 0 && name[start - 1] !== SLASH) start--;
    if (name.length === 0) throw this.#fault(name, "has no name");
    if (name[0] === SLASH) throw this.#unsafe(name, "is an absolute path");
    this.#start = start;
    this.#end = end;
    this.#requireName(name, start, end);
    this.#parent = this.#isSameDirectory(name, start)
      ? this.#directoryEntry
      : this.#directoryOf(name, start, makes);
  }

  #isSameDirectory(name: Uint8Array, length: number): boolean {
    const directory = this.#directory;
    if (length !== directory.length) return false;
    for (let i = 0; i < length; i++) {
      if (name[i] !== directory[i]) return false;
    }
    return true;
  }

  #directoryOf(name: Uint8Array, length: number, makes: boolean): number {
    let at = ROOT_ENTRY;
    for (let from = 0; from < length;) {
      let to = from;
      while (to < length && name[to] !== SLASH) to++;
      if (to > from && !isDot(name, from, to)) {
        this.#requireName(name, from, to);
        at = this.#directoryAt(at, name, from, to, makes);
        if (at < 0) return at;
      }
      from = to + 1;
    }
    this.#directory = name.slice(0, length);
    this.#directoryEntry = at;
    return at;
  }

  #directoryAt(
    parent: number,
    name: Uint8Array,
    start: number,
    end: number,
    makes: boolean,
  ): number {
    const { paths } = this;
    const entry = paths.find(parent, name, start, end);
    if (entry !== 0 && paths.isDirectory(entry)) return entry;
    if (!makes) return -1;
    if (entry === 0) return this.#add(parent, name, start, end, DIRECTORY_BIT);
    const above = decodeName(name, 0, end);
    throw this.#fault(
      name,
      `needs the directory '${above}', which is a file or link before`,
    );
  }

  #add(
    parent: number,
    name: Uint8Array,
    start: number,
    end: number,
    ref: number,
  ): number {
    try {
      return this.paths.add(parent, name, start, end, ref);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #requireName(name: Uint8Array, start: number, end: number): void {
    if (
      end - start === 2 && name[start] === DOT && name[start + 1] === DOT
    ) throw this.#unsafe(name, "leads out by '..'");
    if (end - start > LONGEST_NAME) {
      throw this.#unsafe(name, `has a name of ${end - start} bytes`);
    }
    for (let i = start; i < end; i++) {
      if (name[i] === 0) throw this.#unsafe(name, "has a NUL in its name");
    }
  }

  #unsafe(name: Uint8Array, why: string): FormatError {
    return memberError(
      "unsafe-name",
      this.#path,
      name,
      `${why}: no directory can show it, and the tar is not opened; extract it by a program that you trust with it`,
    );
  }

  #fault(name: Uint8Array, why: string): FormatError {
    return memberError(
      "bad-structure",
      this.#path,
      name,
      `${why}: no program could extract it`,
    );
  }

  #explain(error: unknown): unknown {
    const isTooLarge = error instanceof NamesTooLongError ||
      error instanceof RangeError;
    if (!isTooLarge) return error;
    return new FormatError(
      "too-large",
      `${this.#path} has more members, or longer names, than fit one tree: split it into several`,
      { path: this.#path, cause: error },
    );
  }
}

/** Whether a name is `.`, and what stands before it a slash, where that is asked for. */
function isDot(
  name: Uint8Array,
  start: number,
  end: number,
  before?: number,
): boolean {
  return end - start === 1 && name[start] === DOT &&
    (before === undefined || start === 0 || name[start - 1] === before);
}
