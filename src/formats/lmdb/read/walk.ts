import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  type Database,
  databaseAt,
  DatabaseFlag,
  isEmpty,
  MOST_DEPTH,
  NodeFlag,
  PageField,
  PageFlag,
  Size,
  wordAt,
} from "../layout.ts";
import { Fault } from "./faults.ts";
import type { SampledEntry } from "./key_names.ts";
import type { Meta } from "./meta.ts";
import { NodePage, PageFault } from "./node_page.ts";

/** Bytes of pages that are read together. */
const BATCH = 1 << 20;
/** Bytes at the start of a value that show its type. */
const HEAD = 16;

/** Receives what a walk finds: databases, their keys in order, and the values of each. */
export interface Found {
  /**
   * Begins a database.
   *
   * @param name `undefined` for the main one.
   * @param entries Its first, middle and last entry, as far as they have plain values.
   */
  database(
    name: Uint8Array | undefined,
    database: Database,
    entries: readonly SampledEntry[],
  ): void;
  /**
   * Begins a key, which is valid only during the call.
   *
   * @param past End of its value, which follows the key; 0 if the value is elsewhere.
   */
  key(bytes: Uint8Array, start: number, end: number, past: number): void;
  /** Adds a value of the key, as a range of the file. `page` is the first of its overflow pages, or 0. Returns whether it is shown. */
  value(offset: number, length: number, fault: number, page: number): boolean;
  damage(error: FormatError): void;
}

/** What a walk has seen of a database, to be compared with its record. */
interface Counts {
  branchPages: number;
  leafPages: number;
  entries: number;
  /** Whether all pages were sound. */
  isWhole: boolean;
}

interface NamedDatabase {
  readonly name: Uint8Array;
  readonly database: Database;
}

/** Called with each leaf page of a tree, and its number. */
type Visit = (page: NodePage, number: number) => Steps<void> | void;

/**
 * Walks all trees of a database file in key order. Each page is read once: a page that is used twice, lies outside the
 * file, or is not what its parent says is reported as damage, and the walk goes on without it.
 */
export class Walk {
  readonly #source: ByteSource;
  readonly #meta: Meta;
  readonly #found: Found;
  readonly #seen = new PageSet();

  constructor(source: ByteSource, meta: Meta, found: Found) {
    this.#source = source;
    this.#meta = meta;
    this.#found = found;
  }

  *all(): Steps<void> {
    const named: NamedDatabase[] = [];
    yield* this.#walkDatabase(this.#meta.main, undefined, named);
    for (const { name, database } of named) {
      yield* this.#walkDatabase(database, name);
    }
  }

  /** @param named Takes the named databases; only the main one has any. */
  *#walkDatabase(
    database: Database,
    name: Uint8Array | undefined,
    named?: NamedDatabase[],
  ): Steps<void> {
    this.#found.database(name, database, yield* this.#sample(database));
    const counts = newCounts();
    yield* this.#walkTree(
      database,
      counts,
      (page, number) => this.#leaf(page, number, database, counts, named),
    );
    this.#compare(database, counts);
  }

  *#walkTree(database: Database, counts: Counts, visit: Visit): Steps<void> {
    if (isEmpty(database)) return;
    const { depth, root } = database;
    if (depth >= 1 && depth <= MOST_DEPTH) {
      return yield* this.#descend([root], depth, counts, visit);
    }
    this.#report(root, counts, `is the root of ${depth} levels`);
  }

  *#descend(
    pages: readonly number[],
    depth: number,
    counts: Counts,
    visit: Visit,
  ): Steps<void> {
    const most = Math.ceil(BATCH / this.#meta.pageSize);
    const kind = depth === 1 ? PageFlag.LEAF : PageFlag.BRANCH;
    for (let from = 0; from < pages.length; from += most) {
      const batch = pages.slice(from, from + most)
        .filter((number) => this.#claim(number, counts));
      const read = yield* readSlices(
        [this.#source],
        batch.map((number) => this.#sliceOf(number)),
      );
      let children: number[] = [];
      for (const [i, number] of batch.entries()) {
        const page = this.#parse(read[i]!, number, kind, counts);
        if (page === undefined) continue;
        if (depth === 1) {
          counts.leafPages++;
          const steps = visit(page, number);
          if (steps !== undefined) yield* steps;
          continue;
        }
        counts.branchPages++;
        for (let node = 0; node < page.count; node++) {
          children.push(page.childAt(page.at(node)));
        }
        if (children.length < most) continue;
        yield* this.#descend(children, depth - 1, counts, visit);
        children = [];
      }
      if (children.length === 0) continue;
      yield* this.#descend(children, depth - 1, counts, visit);
    }
  }

  *#leaf(
    page: NodePage,
    number: number,
    { flags: databaseFlags }: Database,
    counts: Counts,
    named: NamedDatabase[] | undefined,
  ): Steps<void> {
    const start = number * this.#meta.pageSize;
    const hasKeys = (databaseFlags & DatabaseFlag.DUPLICATES) !== 0;
    if (page.valueSize > 0) {
      return this.#report(number, counts, "has values without keys");
    }
    for (let node = 0; node < page.count; node++) {
      const at = page.at(node);
      const [flags, size] = [page.flagsAt(at), page.sizeAt(at)];
      const key = at + Size.NODE_HEADER;
      const data = key + page.keySizeAt(at);
      const isDatabase = (flags & NodeFlag.DATABASE) !== 0;
      const hasSeveral = (flags & NodeFlag.DUPLICATES) !== 0;
      if (isDatabase && size !== Size.DATABASE) {
        this.#report(number, counts, `has a database record of ${size} bytes`);
      } else if (
        hasSeveral && !hasKeys || isDatabase && !hasSeveral && !named
      ) {
        this.#report(number, counts, `has a node with the flags ${flags}`);
      } else if (hasSeveral) {
        this.#found.key(page.bytes, key, data, 0);
        yield* this.#valuesOfKey(page, number, data, isDatabase, size, counts);
      } else if (isDatabase) {
        const name = page.bytes.slice(key, data);
        named!.push({ name, database: databaseAt(page.view, data) });
        counts.entries++;
      } else {
        const isHere = (flags & NodeFlag.OVERFLOW) === 0;
        this.#found.key(page.bytes, key, data, isHere ? data + size : 0);
        counts.entries++;
        if (isHere) {
          this.#found.value(start + data, size, Fault.NONE, 0);
        } else this.#overflow(wordAt(page.view, data), size);
      }
    }
  }

  /** Visits the values of one key: of a small page in the leaf, or of a tree whose keys are the values. */
  *#valuesOfKey(
    page: NodePage,
    number: number,
    data: number,
    isTree: boolean,
    size: number,
    counts: Counts,
  ): Steps<void> {
    if (!isTree) {
      const end = data + size;
      const small = this.#guard(
        number,
        counts,
        () => new NodePage(page.bytes, PageFlag.LEAF, data, end),
      );
      if (small !== undefined) this.#values(small, number, counts);
      return;
    }
    const database = databaseAt(page.view, data);
    const own = newCounts();
    yield* this.#walkTree(database, own, (leaf, at) => {
      this.#values(leaf, at, own);
    });
    this.#compare(database, own);
    counts.entries += own.entries;
    counts.isWhole &&= own.isWhole;
  }

  #values(page: NodePage, number: number, counts: Counts): void {
    const start = number * this.#meta.pageSize;
    for (let node = 0; node < page.count; node++) {
      const at = page.at(node);
      counts.entries++;
      if (page.valueSize > 0) {
        this.#found.value(start + at, page.valueSize, Fault.NONE, 0);
      } else {
        const offset = start + at + Size.NODE_HEADER;
        this.#found.value(offset, page.keySizeAt(at), Fault.NONE, 0);
      }
    }
  }

  #overflow(page: number, length: number): void {
    const { pageSize, pageCount } = this.#meta;
    const offset = page * pageSize + Size.PAGE_HEADER;
    const end = offset + length;
    const isPage = page > 1 && end <= pageCount * pageSize;
    if (!isPage) this.#found.value(0, length, Fault.PAGE, page);
    else if (end > this.#source.size) {
      this.#found.value(offset, length, Fault.OUTSIDE, page);
    } else {
      const fault = this.#seen.add(page) ? Fault.NONE : Fault.SHARED;
      this.#found.value(offset, length, fault, page);
    }
  }

  /** Returns the first, middle and last entry, if they have plain values. Damage is left to the walk. */
  *#sample(database: Database): Steps<SampledEntry[]> {
    const { depth, root } = database;
    const entries: SampledEntry[] = [];
    if (isEmpty(database) || depth > MOST_DEPTH) return entries;
    for (const part of [0, 0.5, 1]) {
      let number = root;
      for (let level = depth; level > 0; level--) {
        if (!this.#isFree(number)) return entries;
        const { offset, length } = this.#sliceOf(number);
        const bytes = yield* readPart(this.#source, offset, length);
        const kind = level === 1 ? PageFlag.LEAF : PageFlag.BRANCH;
        const page = pageOrNone(() => new NodePage(bytes, kind));
        if (page === undefined || page.count === 0 || page.valueSize > 0) {
          return entries;
        }
        const at = page.at(Math.floor(part * (page.count - 1)));
        if (level > 1) number = page.childAt(at);
        else if ((page.flagsAt(at) & ~NodeFlag.OVERFLOW) === 0) {
          entries.push(yield* this.#entryAt(page, at));
        }
      }
    }
    return entries;
  }

  *#entryAt(page: NodePage, at: number): Steps<SampledEntry> {
    const start = at + Size.NODE_HEADER;
    const data = start + page.keySizeAt(at);
    const key = page.bytes.slice(start, data);
    const length = Math.min(HEAD, page.sizeAt(at));
    const isElsewhere = (page.flagsAt(at) & NodeFlag.OVERFLOW) !== 0;
    if (!isElsewhere) {
      const head = page.bytes.slice(data, data + length);
      return { key, head, isElsewhere };
    }
    const { pageSize } = this.#meta;
    const offset = wordAt(page.view, data) * pageSize + Size.PAGE_HEADER;
    const isInside = offset + length <= this.#source.size;
    const head = yield* readPart(this.#source, offset, isInside ? length : 0);
    return { key, head, isElsewhere };
  }

  #compare(database: Database, counts: Counts): void {
    if (!counts.isWhole) return; // reported already
    // Whether pages of a key's values count varies by version of LMDB.
    const hasPages = (database.flags & DatabaseFlag.DUPLICATES) === 0;
    const fields = hasPages ? COMPARED : COMPARED.slice(0, 1);
    for (const field of fields) {
      if (database[field] === counts[field]) continue;
      counts.isWhole = false;
      const { name: path } = this.#source;
      const message = `Cannot read all of ${path}: a tree has ${
        counts[field]
      } ${COUNTED[field]}, and its record ${
        database[field]
      }: the database is damaged. ${HINT}`;
      const facts = { path, expected: database[field], actual: counts[field] };
      this.#found.damage(new FormatError("bad-structure", message, facts));
    }
  }

  #parse(
    bytes: Uint8Array,
    number: number,
    kind: number,
    counts: Counts,
  ): NodePage | undefined {
    return this.#guard(number, counts, () => {
      const page = new NodePage(bytes, kind);
      const own = wordAt(page.view, PageField.NUMBER);
      if (own === number) return page;
      throw new PageFault(`has the number of page ${own}`);
    });
  }

  #guard<T>(number: number, counts: Counts, make: () => T): T | undefined {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof PageFault)) throw error;
      this.#report(number, counts, error.message);
      return undefined;
    }
  }

  /** Whether a page can be read, and was not before. Reports why not. */
  #claim(number: number, counts: Counts): boolean {
    if (this.#isFree(number)) return this.#seen.add(number);
    const { pageCount, pageSize } = this.#meta;
    const isPage = number > 1 && number < pageCount;
    const isCut = (number + 1) * pageSize > this.#source.size;
    const why = !isPage
      ? "is not a page of the database"
      : isCut
      ? "lies behind the end of the file, which was truncated"
      : "is used twice";
    this.#report(
      number,
      counts,
      why,
      isPage && isCut ? "truncated" : undefined,
    );
    return false;
  }

  #isFree(number: number): boolean {
    const { pageCount, pageSize } = this.#meta;
    return number > 1 && number < pageCount &&
      (number + 1) * pageSize <= this.#source.size && !this.#seen.has(number);
  }

  #sliceOf(number: number) {
    const { pageSize } = this.#meta;
    return { source: 0, offset: number * pageSize, length: pageSize };
  }

  /** @param why Completes the sentence "The page …". */
  #report(
    number: number,
    counts: Counts,
    why: string,
    code: FormatError["code"] = "bad-structure",
  ): void {
    counts.isWhole = false;
    const { name: path } = this.#source;
    const offset = number * this.#meta.pageSize;
    const message = `Cannot read page ${number} of ${path}: it ${why}. ${HINT}`;
    this.#found.damage(new FormatError(code, message, { path, offset }));
  }
}

const HINT =
  "Download it again; a database in use must be copied with mdb_copy";

const COMPARED = ["entries", "leafPages", "branchPages"] as const;

const COUNTED = {
  entries: "values",
  leafPages: "leaf pages",
  branchPages: "branch pages",
};

function newCounts(): Counts {
  return { branchPages: 0, leafPages: 0, entries: 0, isWhole: true };
}

function pageOrNone(make: () => NodePage): NodePage | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PageFault)) throw error;
    return undefined;
  }
}

/** Page numbers, in memory for those around them only. */
class PageSet {
  readonly #parts = new Map<number, Uint32Array>();

  has(page: number): boolean {
    const part = this.#parts.get(Math.floor(page / PART));
    return part !== undefined && (part[page % PART >> 5]! & 1 << page) !== 0;
  }

  /** Adds a page. Returns whether it is new. */
  add(page: number): boolean {
    if (this.has(page)) return false;
    const at = Math.floor(page / PART);
    let part = this.#parts.get(at);
    if (part === undefined) {
      this.#parts.set(at, part = new Uint32Array(PART >> 5));
    }
    part[page % PART >> 5]! |= 1 << page;
    return true;
  }
}

/** Pages in each part of a {@linkcode PageSet}: 1 KiB. */
const PART = 1 << 13;
