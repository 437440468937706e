import { FormatError } from "../../../base/errors.ts";
import { ended, type Steps } from "../../../io/concurrency/steps.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { SparseSet } from "../../../tree/growing_numbers.ts";
import { KeyFault } from "../../../tree/keyed/key_faults.ts";
import { namesOf } from "../../../tree/keyed/key_names.ts";
import type { KeyedBuilder } from "../../../tree/keyed/keyed_builder.ts";
import * as layout from "../layout.ts";
import { type Database, Kind, NodeFlag, Size, wordAt } from "../layout.ts";
import type { Snapshot } from "./meta.ts";
import { NodePage, PageFault } from "./node_page.ts";

/** Bytes of pages that are read together. */
const BATCH = 1 << 20;

/**
 * Visits a leaf page, given its number. Returns the number of its values, or NaN if some could not be counted.
 *
 * @throws {PageFault} If it is damaged.
 */
type Visit = (page: NodePage, number: number) => Steps<number>;

/** First page of a value on overflow pages, and its length in bytes. */
export type OverflowValue = readonly [page: number, length: number];

/**
 * Walks all trees of a database file in key order. Each page is read once: a page that is used twice, lies outside the
 * file, or is not what its parent says is reported as damage, and the walk continues without it.
 */
export class Walk {
  readonly #source: ByteSource;
  readonly #snapshot: Snapshot;
  readonly #builder: KeyedBuilder;
  readonly #overflowing: OverflowValue[] | undefined;
  readonly #seen = new SparseSet();
  /** Pages for values: more would let a small file have contents that fit no disk. */
  #left: number;

  /** @param overflowing Takes the values on overflow pages. */
  constructor(
    source: ByteSource,
    snapshot: Snapshot,
    builder: KeyedBuilder,
    overflowing?: OverflowValue[],
  ) {
    this.#source = source;
    this.#snapshot = snapshot;
    this.#builder = builder;
    this.#overflowing = overflowing;
    this.#left = source.size / snapshot.pageSize;
  }

  *all(): Steps<void> {
    const { main, fault } = this.#snapshot;
    if (fault !== undefined) this.#builder.damage(fault);
    const named: [Uint8Array, Database][] = [];
    yield* this.#walkDatabase(main, undefined, named);
    for (const [name, database] of named) {
      yield* this.#walkDatabase(database, name);
    }
  }

  /** @param named Takes the named databases; only the main one has any. */
  *#walkDatabase(
    database: Database,
    name: Uint8Array | undefined,
    named?: [Uint8Array, Database][],
  ): Steps<void> {
    const hasSeveral = (database.flags & layout.DUPLICATES) !== 0;
    this.#builder.database(name, hasSeveral);
    let isFirst = true;
    const leaf = function* (this: Walk, page: NodePage, number: number) {
      if (page.valueSize > 0) throw new PageFault("has values without keys");
      if (isFirst) yield* this.#chooseNames(page, number, database);
      isFirst = false;
      return yield* this.#leaf(page, number, hasSeveral, named);
    };
    yield* this.#walkTree(database, leaf.bind(this));
  }

  /** Returns the number of values, compared with what the record says; NaN if not all are found. */
  *#walkTree(database: Database, visit: Visit): Steps<number> {
    const { depth, root, entries } = database;
    const isEmpty = layout.isEmpty(database);
    const isOdd = !isEmpty && (depth < 1 || depth > layout.MOST_DEPTH);
    const found = isOdd || isEmpty
      ? 0
      : yield* this.#descend([root], depth, visit);
    if (!isOdd && (found === entries || Number.isNaN(found))) return found;
    const why = isOdd
      ? `is the root of ${depth} levels`
      : `is the root of ${found} values, not of ${entries}`;
    this.#report(isEmpty ? 0 : root, new PageFault(why));
    return NaN;
  }

  /** @param depth Number of levels, pages included. */
  *#descend(
    pages: readonly number[],
    depth: number,
    visit: Visit,
  ): Steps<number> {
    const { pageSize: length } = this.#snapshot;
    const most = Math.ceil(BATCH / length);
    let entries = 0;
    for (let from = 0; from < pages.length; from += most) {
      const batch = pages.slice(from, from + most);
      const sound = batch.filter((number) => this.#claim(number));
      if (sound.length < batch.length) entries = NaN;
      const slices = sound
        .map((number) => ({ source: 0, offset: number * length, length }));
      const read = yield* readSlices([this.#source], slices);
      let children: number[] = [];
      for (const [i, number] of sound.entries()) {
        try {
          if (depth === 1) {
            const page = new NodePage(read[i]!, Kind.LEAF, number);
            entries += yield* visit(page, number);
          } else children.push(...childrenOf(read[i]!, number));
        } catch (error) {
          this.#report(number, error);
          entries = NaN;
        }
        if (children.length < most) continue;
        entries += yield* this.#descend(children, depth - 1, visit);
        children = [];
      }
      if (children.length === 0) continue;
      entries += yield* this.#descend(children, depth - 1, visit);
    }
    return entries;
  }

  *#leaf(
    page: NodePage,
    number: number,
    hasSeveral: boolean,
    named: [Uint8Array, Database][] | undefined,
  ): Steps<number> {
    const { view, bytes } = page;
    let entries = 0;
    for (let node = 0; node < page.count; node++) {
      const at = page.at(node);
      const [flags, size] = [page.flagsAt(at), page.sizeAt(at)];
      const [key, data] = [at + Size.NODE_HEADER, page.keyEndAt(at)];
      const isDatabase = (flags & NodeFlag.DATABASE) !== 0;
      const isSeveral = (flags & NodeFlag.DUPLICATES) !== 0;
      const isApart = (flags & NodeFlag.OVERFLOW) !== 0;
      const isWrong = isDatabase && size !== Size.DATABASE ||
        (isSeveral ? !hasSeveral : isDatabase && named === undefined);
      if (isWrong) throw new PageFault(`has a node with the flags ${flags}`);
      if (isDatabase && !isSeveral) {
        named!.push([bytes.slice(key, data), layout.databaseAt(view, data)]);
        entries++;
        continue;
      }
      this.#builder.key(bytes, key, data, isApart ? 0 : data + size);
      if (isDatabase) {
        const values = layout.databaseAt(view, data);
        entries += yield* this.#walkTree(
          values,
          (page, number) => ended(this.#values(page, number)),
        );
      } else if (isSeveral) {
        const small = new NodePage(bytes, Kind.LEAF, -1, data, data + size);
        entries += this.#values(small, number);
      } else {
        entries++;
        if (isApart) this.#overflow(wordAt(view, data), size);
        else this.#value(number, data, data + size);
      }
    }
    return entries;
  }

  /** Adds the values of one key, which are the keys of a page. Returns their number. */
  #values(page: NodePage, number: number): number {
    for (let node = 0; node < page.count; node++) {
      const at = page.at(node);
      if (page.valueSize > 0) this.#value(number, at, at + page.valueSize);
      else this.#value(number, at + Size.NODE_HEADER, page.keyEndAt(at));
    }
    return page.count;
  }

  #value(page: number, start: number, end: number): void {
    const offset = page * this.#snapshot.pageSize + start;
    this.#builder.value(offset, end - start, KeyFault.NONE);
  }

  #overflow(page: number, length: number): void {
    const { pageSize, pageCount } = this.#snapshot;
    const offset = page * pageSize + Size.PAGE_HEADER;
    const count = Math.ceil((Size.PAGE_HEADER + length) / pageSize);
    let fault: number = KeyFault.NONE;
    if (page < 2 || page + count > pageCount) fault = KeyFault.NOWHERE;
    else if (offset + length > this.#source.size) fault = KeyFault.CUT;
    else if (this.#seen.add(page) && count <= this.#left) {
      this.#left -= count;
      this.#overflowing?.push([page, length]);
    } else fault = KeyFault.SHARED;
    const isNowhere = fault === KeyFault.NOWHERE;
    this.#builder.value(isNowhere ? 0 : offset, length, fault);
  }

  /** Chooses names by the first and last entry of a database's first leaf. */
  *#chooseNames(
    page: NodePage,
    number: number,
    { flags }: Database,
  ): Steps<void> {
    const { pageSize } = this.#snapshot;
    const entries = [0, page.count - 1].slice(0, page.count).map((node) => {
      const at = page.at(node);
      const data = page.keyEndAt(at);
      const isApart = (page.flagsAt(at) & NodeFlag.OVERFLOW) !== 0;
      const offset = isApart
        ? wordAt(page.view, data) * pageSize + Size.PAGE_HEADER
        : number * pageSize + data;
      const key = page.bytes.slice(at + Size.NODE_HEADER, data);
      return { key, offset, length: page.sizeAt(at), isApart };
    });
    const hasIntegers = (flags & layout.INTEGER_KEYS) !== 0;
    const names = yield* namesOf(this.#source, entries, hasIntegers);
    this.#builder.names(names);
  }

  /** Whether a page can be read, and was not before. Reports why not. */
  #claim(number: number): boolean {
    const { pageCount, pageSize } = this.#snapshot;
    const isPage = number > 1 && number < pageCount;
    const isCut = isPage && (number + 1) * pageSize > this.#source.size;
    if (isPage && !isCut && this.#seen.add(number)) return true;
    const why = isCut
      ? "lies behind the end of the file"
      : isPage
      ? "is used twice"
      : "is not a page of the database";
    this.#report(number, new PageFault(why), isCut ? "truncated" : undefined);
    return false;
  }

  #report(
    number: number,
    error: unknown,
    code: FormatError["code"] = "bad-structure",
  ): void {
    if (!(error instanceof PageFault)) throw error;
    const { name: path } = this.#source;
    const message =
      `Cannot read page ${number} of ${path}: it ${error.message}. ` +
      "Download the database again; copy one that is in use with mdb_copy";
    const offset = number * this.#snapshot.pageSize;
    this.#builder.damage(new FormatError(code, message, { path, offset }));
  }
}

/** Returns the page numbers in a branch page. */
function childrenOf(bytes: Uint8Array, number: number): number[] {
  const page = new NodePage(bytes, Kind.BRANCH, number);
  return Array.from(
    { length: page.count },
    (_, node) => page.childAt(page.at(node)),
  );
}
