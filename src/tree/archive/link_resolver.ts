import { DIRECTORY_BIT } from "../names/name_table.ts";
import { type PathEntries, ROOT_ENTRY } from "./path_entries.ts";

/** Where a link leads: to an entry, or nowhere, or out of the archive. */
export const NOWHERE = -1;
export const OUTSIDE = -2;

/** Links that lead to links are followed so far, as Linux does. */
const MOST_LINKS = 40;

const UNKNOWN = -3;
const DOT = 0x2e;
const SLASH = 0x2f;

/** Records of links, as the table of paths knows them. */
export interface LinkRecords {
  readonly paths: PathEntries;
  /** Where a record's path stands among the names, and how long it is; `undefined` for what is no link. */
  pathOf(record: number): { start: number; end: number } | undefined;
  /**
   * Makes a directory that a link's path needs. Without it, such a link leads nowhere.
   *
   * @param start Where its name starts among the names.
   * @returns Its entry, or {@linkcode NOWHERE}.
   */
  make?(parent: number, start: number, end: number): number;
}

/**
 * Follows the symbolic links of an archive as a system would that had extracted it below a directory. The path of each
 * link is walked once.
 */
export class LinkResolver {
  readonly #records: LinkRecords;
  /** By entries. */
  readonly #known = new Map<number, number>();
  /** Names of paths that were looked up. */
  steps = 0;

  constructor(records: LinkRecords) {
    this.#records = records;
  }

  /** The entry that the link of an entry leads to, or one of {@linkcode NOWHERE} and {@linkcode OUTSIDE}. */
  resolve(entry: number, depth = 0): number {
    const known = this.#known.get(entry);
    if (known !== undefined) return known === UNKNOWN ? NOWHERE : known;
    if (depth === MOST_LINKS) return NOWHERE;
    const { paths } = this.#records;
    const path = this.#records.pathOf(paths.refs.at(entry));
    if (path === undefined) return entry;
    this.#known.set(entry, UNKNOWN); // one that leads to itself leads nowhere
    const target = this.#walk(paths.parents.at(entry), path, depth);
    this.#known.set(entry, target);
    return target;
  }

  #walk(
    directory: number,
    { start, end }: { start: number; end: number },
    depth: number,
  ): number {
    const { paths } = this.#records;
    const { names } = paths;
    if (start === end) return NOWHERE;
    if (names[start] === SLASH) return OUTSIDE;
    let at = directory;
    for (let from = start; from < end;) {
      this.steps++;
      let to = from;
      while (to < end && names[to] !== SLASH) to++;
      const length = to - from;
      const isUp = length === 2 && names[from] === DOT &&
        names[from + 1] === DOT;
      const isHere = length === 0 || length === 1 && names[from] === DOT;
      if (paths.refs.at(at) !== DIRECTORY_BIT) return NOWHERE; // a file has no entries
      if (isUp) {
        if (at === ROOT_ENTRY) return OUTSIDE;
        at = paths.parents.at(at);
      } else if (!isHere) {
        const next = paths.find(at, names, from, to);
        at = next === 0
          ? this.#records.make?.(at, from, to) ?? NOWHERE
          : this.resolve(next, depth + 1);
        if (at < 0) return at;
      }
      from = to + 1;
    }
    return at;
  }
}
