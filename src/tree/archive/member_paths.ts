import { decodeName } from "../../base/names.ts";
import type { MemberKind, SkippedMember, SkipReason } from "../format.ts";
import { DIRECTORY_BIT, type NameTableColumns } from "../names/name_table.ts";
import { sharedUint32 } from "../shared_numbers.ts";
import { SkippedList } from "./archive_notes.ts";
import { LinkResolver, NOWHERE, OUTSIDE } from "./link_resolver.ts";
import { treeError } from "./member_error.ts";
import { PathEntries, ROOT_ENTRY } from "./path_entries.ts";
import { isDot, PathFault, requireName } from "./path_names.ts";

const SLASH = 0x2f;

/** Record of an entry that is skipped after it was added. */
export const SKIPPED = DIRECTORY_BIT - 1;

/** Longest path of a member in bytes: longer ones would nest thousands of directories. */
export const LONGEST_MEMBER = 1 << 16;
/** Longest path of a link in bytes: `PATH_MAX` of Linux, without the NUL. */
const LONGEST_LINK = 4095;

/** Maximum number of names looked up to place members below links. Archives that need more are built to take time. */
const MOST_STEPS = 1 << 26;

/** Path rules of an archive format. */
export interface PathRules {
  /**
   * Whether members are placed as tar extracts them: a later member replaces an earlier one of another kind, and a
   * member below a link to a directory is placed in that directory.
   */
  readonly replaces: boolean;
  readonly onSkip?: ((member: SkippedMember) => void) | undefined;
}

/** Result of {@linkcode MemberPaths.finish}. */
export interface PathTables {
  readonly names: NameTableColumns;
  /** Per record: its node, or 0 if a later record has its path, or it is skipped. */
  readonly nodes: Uint32Array;
  /** Per node: its time in milliseconds since 1970, or NaN if none was given. */
  readonly times: Float64Array;
  /** Records that are symbolic links, ascending. */
  readonly links: Uint32Array;
  /** Per link: offset of its target in the names. */
  readonly linkStarts: Uint32Array;
  /** Per link: the node that it finally resolves to, or 0. */
  readonly targets: Uint32Array;
}

/**
 * Builds the tree that extracting all members in order would produce, from their paths in bytes. Missing directories
 * are created; of members with the same path, the last one remains. Members that cannot be placed are recorded in
 * {@linkcode MemberPaths.skipped}. Leading slashes are removed.
 */
export class MemberPaths {
  readonly entries: PathEntries;
  readonly skipped: SkippedList;
  readonly #archive: string;
  readonly #replaces: boolean;
  /** By record of a link: range of its target in the names. */
  readonly #links = new Map<number, { start: number; end: number }>();
  /** Resolves links above members; discarded when an entry is replaced, since its results may be stale. */
  #resolver: LinkResolver | undefined;
  #steps = 0;
  // Target of the previous link.
  #link = new Uint8Array(0);
  #linkStart = 0;
  // Result of `#split`.
  #parent = ROOT_ENTRY;
  #start = 0;
  #end = 0;

  constructor(archive: string, { replaces, onSkip }: PathRules) {
    this.#archive = archive;
    this.#replaces = replaces;
    const follow = (entry: number, makes: boolean) =>
      this.#follow(entry, makes);
    this.entries = new PathEntries(
      "a file or link",
      replaces ? follow : undefined,
    );
    this.skipped = new SkippedList(archive, onSkip);
  }

  /** Adds a file, replacing any earlier one at its path. Returns its entry; 0 if it is skipped. */
  addFile(
    name: Uint8Array,
    record: number,
    time: number,
    kind: MemberKind = "file",
  ): number {
    return this.#guard(name, kind, () => {
      const entry = this.#entryFor(name, record);
      this.entries.times.set(entry, time);
      return entry;
    });
  }

  /** Adds a directory, which may already exist. */
  addDirectory(name: Uint8Array, time: number): void {
    const { entries } = this;
    this.#guard(name, "directory", () => {
      this.#split(name, true);
      const [parent, start, end] = [this.#parent, this.#start, this.#end];
      let entry = start === end
        ? parent
        : entries.find(parent, name, start, end);
      if (entry === 0 && start !== end) {
        entry = entries.add(parent, name, start, end, DIRECTORY_BIT);
      } else if (!entries.isDirectory(entry)) {
        if (!this.#replaces) {
          throw new PathFault(
            "conflict",
            "is a directory, but an earlier file or link has its path",
          );
        }
        entries.refs.set(entry, DIRECTORY_BIT);
        this.#resolver = undefined;
      }
      entries.times.set(entry, time);
      return entry;
    });
  }

  /** Adds a symbolic link. Returns its entry; 0 if it is skipped. */
  addLink(
    name: Uint8Array,
    target: Uint8Array,
    record: number,
    time: number,
  ): number {
    if (
      target.length === 0 || target.length > LONGEST_LINK || target.includes(0)
    ) {
      this.skip(
        name,
        "symbolic link",
        "bad-link",
        "is a link to a path that no system follows",
      );
      return 0;
    }
    const entry = this.addFile(name, record, time, "symbolic link");
    if (entry === 0) return 0;
    const start = this.#keepLink(target);
    this.#links.set(record, { start, end: start + target.length });
    return entry;
  }

  /** Returns the record of the file or link at a path; -1 if there is none, or the path is invalid. */
  find(name: Uint8Array): number {
    const { entries } = this;
    try {
      this.#split(name, false);
    } catch (error) {
      if (error instanceof PathFault) return -1;
      throw error;
    }
    const entry = this.#parent < 0 || this.#start === this.#end
      ? 0
      : entries.find(this.#parent, name, this.#start, this.#end);
    return entry === 0 || entries.isDirectory(entry)
      ? -1
      : entries.refs.at(entry);
  }

  /** Skips a member; `why` completes the sentence "The member …". */
  skip(
    name: Uint8Array,
    kind: MemberKind,
    reason: SkipReason,
    why: string,
  ): void {
    this.skipped.add(name, kind, reason, why);
  }

  /** Returns the range of a link's target in the names; `undefined` for other records. */
  linkOf(record: number): { start: number; end: number } | undefined {
    return this.#links.get(record);
  }

  /**
   * Resolves all links. Returns target entries, or negative values, by entry. Skips links that lead out. Nothing may be
   * added afterwards.
   */
  resolveLinks(): ReadonlyMap<number, number> {
    const { entries } = this;
    const targets = new Map<number, number>();
    if (this.#links.size === 0) return targets;
    const pathOf = (record: number) => this.#links.get(record);
    const resolver = new LinkResolver({ paths: entries, pathOf });
    for (let entry = 1; entry < entries.length; entry++) {
      if (entries.isDirectory(entry)) continue;
      if (pathOf(entries.refs.at(entry)) === undefined) continue;
      targets.set(entry, resolver.resolve(entry));
    }
    for (const [entry, target] of targets) {
      if (target !== OUTSIDE) continue;
      const { start, end } = pathOf(entries.refs.at(entry))!;
      const to = decodeName(entries.names, start, end);
      this.skip(
        this.#nameOf(entry),
        "symbolic link",
        "leads-out",
        `is a link that leads out of the archive, to '${to}'`,
      );
      entries.refs.set(entry, SKIPPED);
    }
    return targets;
  }

  finish(records: number): PathTables {
    try {
      const { entries } = this;
      const found = this.resolveLinks();
      const tables = entries.finish((ref) => ref === SKIPPED ? -1 : ref);
      const { nodeOf } = tables;
      const nodes = sharedUint32(records);
      for (let entry = 0; entry < entries.length; entry++) {
        if (nodeOf[entry] === 0 || entries.isDirectory(entry)) continue;
        nodes[entries.refs.at(entry)] = nodeOf[entry]!;
      }
      const links = [...found]
        .filter(([entry]) => nodeOf[entry]! > 0)
        .map(([entry, target]) => [entries.refs.at(entry), target] as const)
        .sort(([a], [b]) => a - b);
      return {
        names: tables.names,
        nodes,
        times: tables.times,
        links: sharedUint32(links.map(([record]) => record)),
        linkStarts: sharedUint32(
          links.map(([record]) => this.linkOf(record)!.start),
        ),
        targets: sharedUint32(
          links.map(([, target]) => target < 0 ? 0 : nodeOf[target]!),
        ),
      };
    } catch (error) {
      throw treeError(this.#archive, error);
    }
  }

  #guard(name: Uint8Array, kind: MemberKind, add: () => number): number {
    try {
      return add();
    } catch (error) {
      if (!(error instanceof PathFault)) throw treeError(this.#archive, error);
      this.skip(name, kind, error.reason, error.message);
      return 0;
    }
  }

  /** Returns the entry of a path, after assigning it to the record. */
  #entryFor(name: Uint8Array, record: number): number {
    const { entries } = this;
    this.#split(name, true);
    const [parent, start, end] = [this.#parent, this.#start, this.#end];
    if (start === end) {
      throw new PathFault("no-name", "has a name that no file can have");
    }
    if (record >= SKIPPED) throw new RangeError("Too many members");
    const entry = entries.find(parent, name, start, end);
    if (entry === 0) return entries.add(parent, name, start, end, record);
    this.#resolver = undefined;
    if (!entries.isDirectory(entry)) entries.refs.set(entry, record);
    else if (!this.#replaces || !entries.replaceDirectory(entry, record)) {
      throw new PathFault(
        "conflict",
        "is a file or link, but an earlier directory has its path",
      );
    }
    return entry;
  }

  /** Returns the directory that an entry's link resolves to, or -1. Throws a {@linkcode PathFault} if it leads out. */
  #follow(entry: number, makes: boolean): number {
    const { entries } = this;
    const link = this.#links.get(entries.refs.at(entry));
    if (link === undefined || this.#steps > MOST_STEPS) return -1;
    this.#resolver ??= new LinkResolver({
      paths: entries,
      pathOf: (record) => this.#links.get(record),
      make: (parent, start, end) => {
        if (!makes) return NOWHERE;
        const { names } = entries;
        requireName(names, start, end);
        return entries.add(parent, names, start, end, DIRECTORY_BIT);
      },
    });
    const before = this.#resolver.steps;
    const target = this.#resolver.resolve(entry);
    this.#steps += this.#resolver.steps - before;
    if (target >= 0 && entries.isDirectory(target)) return target;
    this.#resolver = undefined; // a missing target may still be added
    if (target !== OUTSIDE || !makes) return -1;
    const to = decodeName(entries.names, link.start, link.end);
    throw new PathFault(
      "leads-out",
      `is below a link that leads out of the archive, to '${to}'`,
    );
  }

  /**
   * Interns the target of a link. A header may give the same one to any number of links, so repeats are stored once.
   */
  #keepLink(target: Uint8Array): number {
    const before = this.#link;
    const isSame = target.length === before.length &&
      target.every((byte, i) => byte === before[i]);
    if (!isSame) {
      this.#link = target.slice();
      this.#linkStart = this.entries.intern(target, 0, target.length);
    }
    return this.#linkStart;
  }

  #nameOf(entry: number): Uint8Array {
    const parts: Uint8Array[] = [];
    const { entries } = this;
    for (let at = entry; at !== ROOT_ENTRY; at = entries.parents.at(at)) {
      parts.unshift(
        entries.names.slice(entries.starts.at(at), entries.ends.at(at)),
      );
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

  /**
   * Splits a path into its directory and the range of its last name, which is empty for the root. Missing directories
   * are created if `makes` is set, otherwise the directory is -1.
   */
  #split(name: Uint8Array, makes: boolean): void {
    if (name.length === 0) throw new PathFault("no-name", "has no name");
    if (name.length > LONGEST_MEMBER) {
      throw new PathFault(
        "too-long",
        `has a path of ${name.length} bytes, more than ${LONGEST_MEMBER}`,
      );
    }
    let first = 0;
    while (first < name.length && name[first] === SLASH) first++;
    if (first > 0 && makes) this.skipped.absolute++;
    let end = name.length;
    // `a/.` and `a//` are `a`.
    for (;;) {
      if (end > first && name[end - 1] === SLASH) end--;
      else if (end > first && endsInDot(name, first, end)) end--;
      else break;
    }
    let start = end;
    while (start > first && name[start - 1] !== SLASH) start--;
    this.#start = start;
    this.#end = end;
    requireName(name, start, end);
    this.#parent = this.entries.directoryOf(name, first, start, makes);
  }
}

function endsInDot(name: Uint8Array, first: number, end: number): boolean {
  return isDot(name, end - 1, end) &&
    (end === first + 1 || name[end - 2] === SLASH);
}
