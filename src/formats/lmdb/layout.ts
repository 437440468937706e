/**
 * Layout of an LMDB data file, as 64-bit programs write it on little-endian machines. From the structures and constants
 * of LMDB 0.9 (`MDB_page`, `MDB_meta`, `MDB_db` and `MDB_node` in `mdb.c`; flags of databases in `lmdb.h`).
 *
 * @module
 */

export const MAGIC = 0xbeefc0de;
/** `MDB_DATA_VERSION` of LMDB 0.9. */
export const DATA_VERSION = 1;
/** Name of the file in a database's directory. */
export const DATA_FILE = "data.mdb";
/** Suffix of databases, which are files or directories. */
export const SUFFIX = ".lmdb";
/** Most levels of a tree: `CURSOR_STACK`. */
export const MOST_DEPTH = 32;

/** Sizes in bytes. */
export const Size = {
  /** Before the nodes of a page, and before the value on overflow pages. */
  PAGE_HEADER: 16,
  /** Meta page, with its header. */
  META: 152,
  DATABASE: 48,
  NODE_HEADER: 8,
  PAGE_NUMBER: 8,
} as const;

/** Offsets in a meta page. */
export const Meta = {
  MAGIC: 16,
  VERSION: 20,
  /** In the record of the database of free pages. */
  PAGE_SIZE: 40,
  MAIN_DATABASE: 88,
  LAST_PAGE: 136,
  TRANSACTION: 144,
} as const;

/** What a page is. */
export const Kind = { BRANCH: 1, LEAF: 2, OVERFLOW: 4, META: 8 } as const;

export const NodeFlag = {
  /** The value is on overflow pages. */
  OVERFLOW: 1,
  /** The value is the record of a database. */
  DATABASE: 2,
  /** The value is a small page, or a database, of the values of one key. */
  DUPLICATES: 4,
} as const;

/** Flag of a database: keys may have several values (`MDB_DUPSORT`). */
export const DUPLICATES = 4;
/** Flag of a database: keys are integers in the machine's byte order (`MDB_INTEGERKEY`). */
export const INTEGER_KEYS = 8;

/** Record of a database (`MDB_db`). Numbers above 2^53 are not exact: no file has so many pages. */
export interface Database {
  readonly flags: number;
  /** Number of levels of its tree. */
  readonly depth: number;
  /** Number of values. */
  readonly entries: number;
  /** Page number of the root. */
  readonly root: number;
}

export function databaseAt(view: DataView, at: number): Database {
  return {
    flags: view.getUint16(at + 4, true),
    depth: view.getUint16(at + 6, true),
    entries: wordAt(view, at + 32),
    root: wordAt(view, at + 40),
  };
}

/** Whether a database has no root (`P_INVALID`). */
export function isEmpty({ root }: Database): boolean {
  return root === 2 ** 64;
}

/** Reads 64 bits as a number. */
export function wordAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

export function kindOf(page: DataView, start = 0): number {
  return page.getUint16(start + 10, true) & 0x0f;
}

/** Whether a name is that of a database: a file, or a directory. */
export function isShard(name: string): boolean {
  return name.endsWith(SUFFIX);
}
