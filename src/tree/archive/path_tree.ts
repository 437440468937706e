import { DIRECTORY_BIT, type NameTableColumns } from "../names/name_table.ts";
import { sharedUint32 } from "../shared_numbers.ts";
import {
  isDot,
  PathEntries,
  PathFault,
  requireName,
  ROOT_ENTRY,
} from "./path_entries.ts";

/** What paths have become. */
export interface PathTables {
  readonly names: NameTableColumns;
  /** Per record: its node, or 0 where a later one has its path. */
  readonly nodes: Uint32Array;
  /** Per node: its time in milliseconds since 1970, or NaN where none was given. */
  readonly times: Float64Array;
}

const SLASH = 0x2f;

/**
 * Paths of archives as they come, in bytes, each with a record: what would be there if all were extracted, one after the
 * other. Directories that nobody names are made; of files of one path, the last one is there.
 */
export class PathTree {
  readonly #entries = new PathEntries("a file");

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
    const parent = this.#entries.directoryOf(path, start, name);
    let entry = this.#entries.find(parent, path, name, end);
    if (entry === 0) entry = this.#entries.add(parent, path, name, end, record);
    else if (this.#entries.isDirectory(entry)) {
      throw PathFault.conflict("is a directory before, and then a file");
    } else this.#entries.refs.set(entry, record);
    this.#entries.times.set(entry, time);
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
    const entry = this.#entries.directoryOf(path, start, end);
    if (entry !== ROOT_ENTRY) this.#entries.times.set(entry, time);
  }

  /**
   * Makes the tables: entries breadth first, in each directory in the order in which they came.
   *
   * @param records How many there are.
   */
  finish(records: number): PathTables {
    const { refs, length } = this.#entries;
    const { names, nodeOf, times } = this.#entries.finish((ref) => ref);
    const nodes = sharedUint32(records);
    for (let entry = 0; entry < length; entry++) {
      const ref = refs.at(entry);
      if (ref !== DIRECTORY_BIT) nodes[ref] = nodeOf[entry]!;
    }
    return { names, nodes, times };
  }
}

function requireRelative(path: Uint8Array, start: number, end: number): void {
  if (start === end) throw new PathFault(true, "has no name");
  if (path[start] === SLASH) throw new PathFault(true, "is an absolute path");
}
