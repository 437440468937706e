import { decodeName } from "../../../names.ts";
import { LeftOut } from "../../../tree/archive/left_out.ts";
import { treeError } from "../../../tree/archive/member_error.ts";
import {
  isDot,
  PathEntries,
  PathFault,
  requireName,
  ROOT_ENTRY,
} from "../../../tree/archive/path_entries.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { DIRECTORY_BIT } from "../../../tree/names/name_table.ts";
import { LinkResolver, OUTSIDE } from "./link_resolver.ts";
import { makeColumns } from "./make_columns.ts";
import type { TarIndex } from "./tar_columns.ts";

const SLASH = 0x2f;

/** Marks an entry that is not shown. */
export const LEFT_OUT = DIRECTORY_BIT - 1;

/** Longest path of a link in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_LINK = 4095;

/** Takes the members of a tar in their order, and makes tables of what is there at the end, as if it were extracted. */
export class TarBuilder {
  readonly paths = new PathEntries("a file or link");
  /** Per record. */
  readonly offsets = new GrowingNumbers();
  /** Per record; of links less than 0. */
  readonly sizes = new GrowingNumbers();
  /** Per record: its entry, which may have become another record's. */
  readonly entries = new GrowingNumbers(2 ** 32);
  readonly #path: string;
  readonly #leftOut: LeftOut;
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
    this.#leftOut = new LeftOut(path);
  }

  /** Adds a file, in the place of what has had its path: of a directory only where that is empty. */
  addFile(name: Uint8Array, offset: number, size: number, time: number): void {
    this.#addRecord(name, offset, size, time);
  }

  /** Adds a directory, if it is not there; in the place of a file or link that has had its path. */
  addDirectory(name: Uint8Array, time: number): void {
    const { paths } = this;
    try {
      this.#split(name, true);
      const [parent, start, end] = [this.#parent, this.#start, this.#end];
      const isRoot = start === end;
      let entry = isRoot ? parent : paths.find(parent, name, start, end);
      if (entry !== 0) paths.refs.set(entry, DIRECTORY_BIT);
      else if (!isRoot) {
        entry = paths.add(parent, name, start, end, DIRECTORY_BIT);
      }
      paths.times.set(entry, time);
    } catch (error) {
      throw this.#explain(name, error);
    }
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
    const record = target.length > 0 ? this.#recordOf(target) : undefined;
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
    this.#leftOut.add(name, what);
  }

  /** The tables of all that was added. */
  finish(): TarIndex {
    try {
      const targets = this.#resolveLinks();
      const columns = makeColumns(this, targets);
      const { warnings, count: leftOut } = this.#leftOut;
      return { columns, warnings, leftOut };
    } catch (error) {
      throw this.#explain(undefined, error);
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
    const record = this.entries.length;
    let entry: number;
    try {
      entry = this.#entryFor(name, record);
    } catch (error) {
      throw this.#explain(name, error);
    }
    this.paths.times.set(entry, time);
    this.entries.push(entry);
    this.offsets.push(offset);
    this.sizes.push(size);
  }

  /** The entry of a path, which becomes that of a record. */
  #entryFor(name: Uint8Array, record: number): number {
    const { paths } = this;
    this.#split(name, true);
    const [parent, start, end] = [this.#parent, this.#start, this.#end];
    if (start === end || record >= LEFT_OUT) {
      throw new PathFault(false, "has no name that a file can have");
    }
    const entry = paths.find(parent, name, start, end);
    if (entry === 0) return paths.add(parent, name, start, end, record);
    if (!paths.isDirectory(entry)) paths.refs.set(entry, record);
    else if (!paths.replaceDirectory(entry, record)) {
      throw PathFault.conflict("is a directory before, and then a file");
    }
    return entry;
  }

  /** The record of a file or link that is there. */
  #recordOf(name: Uint8Array): number | undefined {
    try {
      this.#split(name, false);
    } catch (error) {
      throw this.#explain(name, error);
    }
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
      else if (end > 0 && endsInDot(name, end)) end--;
      else break;
    }
    let start = end;
    while (start > 0 && name[start - 1] !== SLASH) start--;
    if (name.length === 0) throw new PathFault(false, "has no name");
    if (name[0] === SLASH) throw new PathFault(true, "is an absolute path");
    this.#start = start;
    this.#end = end;
    requireName(name, start, end);
    this.#parent = this.paths.directoryOf(name, 0, start, makes);
  }

  #explain(name: Uint8Array | undefined, error: unknown): unknown {
    return treeError("tar", this.#path, name, error);
  }
}

/** Whether a path up to there ends in a name that is `.`. */
function endsInDot(name: Uint8Array, end: number): boolean {
  return isDot(name, end - 1, end) && (end === 1 || name[end - 2] === SLASH);
}
