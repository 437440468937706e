import { DIRECTORY_BIT } from "../names/name_table.ts";
import { type PathEntries, ROOT_ENTRY } from "./path_entries.ts";

/** Results for a link that leads nowhere, or out of the archive. */
export const NOWHERE = -1;
export const OUTSIDE = -2;

/** Maximum depth of links to links, as on Linux. */
const MOST_LINKS = 40;

const UNKNOWN = -3;
const DOT = 0x2e;
const SLASH = 0x2f;

export interface LinkRecords {
  readonly paths: PathEntries;
  /** Returns the range of a link's path in `names`; `undefined` for other records. */
  pathOf(record: number): { start: number; end: number } | undefined;
  /**
   * Creates a directory that a link's path needs; returns its entry or {@linkcode NOWHERE}. Without this method, such a
   * link leads nowhere.
   */
  make?(parent: number, start: number, end: number): number;
}

/** Resolves an archive's symbolic links as after extraction below a directory. Walks the path of each link once. */
export class LinkResolver {
  readonly #records: LinkRecords;
  /** Results by entry. */
  readonly #known = new Map<number, number>();
  /** Number of names looked up so far. */
  steps = 0;

  constructor(records: LinkRecords) {
    this.#records = records;
  }

  /** Returns the entry that the link of an entry resolves to, or {@linkcode NOWHERE} or {@linkcode OUTSIDE}. */
  resolve(entry: number, depth = 0): number {
    const known = this.#known.get(entry);
    if (known !== undefined) return known === UNKNOWN ? NOWHERE : known;
    if (depth === MOST_LINKS) return NOWHERE;
    const { paths } = this.#records;
    const path = this.#records.pathOf(paths.refs.at(entry));
    if (path === undefined) return entry;
    this.#known.set(entry, UNKNOWN); // a cyclic link leads nowhere
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
      if (paths.refs.at(at) !== DIRECTORY_BIT) return NOWHERE; // not a directory
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
