/**
 * Layout of an LMDB data file, as 64-bit programs write it on little-endian machines. From the structures and constants
 * of LMDB 0.9 (`MDB_page`, `MDB_meta`, `MDB_db` and `MDB_node` in `mdb.c`; flags of databases in `lmdb.h`).
 *
 * @module
 */

export const MAGIC = 0xbeefc0de;
/** `MDB_DATA_VERSION` of LMDB 0.9. */
export const DATA_VERSION = 1;

/** Data file in the directory of a database. */
export const DATA_FILE = "data.mdb";

export const LEAST_PAGE_SIZE = 512;
export const MOST_PAGE_SIZE = 65_536;
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

/** Offsets in a page. */
export const PageField = {
  NUMBER: 0,
  /** Size of each value, where values are stored without node headers. */
  VALUE_SIZE: 8,
  FLAGS: 10,
  /** End of the list of nodes. */
  LOWER: 12,
  /** Start of the nodes. */
  UPPER: 14,
  /** Number of overflow pages, in place of the two fields before. */
  OVERFLOW_PAGES: 12,
} as const;

/** Offsets in a meta page. */
export const MetaField = {
  MAGIC: 16,
  VERSION: 20,
  FREE_DATABASE: 40,
  MAIN_DATABASE: 88,
  LAST_PAGE: 136,
  TRANSACTION: 144,
} as const;

export const PageFlag = {
  BRANCH: 0x01,
  LEAF: 0x02,
  OVERFLOW: 0x04,
  META: 0x08,
  /** Values of a fixed size, without node headers. */
  FIXED: 0x20,
} as const;

/** Flags that say what a page is. */
const KINDS = PageFlag.BRANCH | PageFlag.LEAF | PageFlag.OVERFLOW |
  PageFlag.META;

export const NodeFlag = {
  /** The value is on overflow pages. */
  OVERFLOW: 0x01,
  /** The value is the record of a database. */
  DATABASE: 0x02,
  /** The value is a small page, or a database, of values of one key. */
  DUPLICATES: 0x04,
} as const;

export const DatabaseFlag = {
  /** Keys may have several values (`MDB_DUPSORT`). */
  DUPLICATES: 0x04,
  /** Keys are integers in the machine's byte order (`MDB_INTEGERKEY`). */
  INTEGER_KEYS: 0x08,
} as const;

/** Record of a database (`MDB_db`). Numbers above 2^53 are not exact: no file has so many pages. */
export interface Database {
  readonly flags: number;
  /** Number of levels; 0 if it is empty. */
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  /** Number of values. */
  readonly entries: number;
  /** Page number of the root; at least 2^63 if it is empty. */
  readonly root: number;
}

/** Page number of an empty database's root (`P_INVALID`), as far as a float holds it. */
const NO_PAGE = 2 ** 64;

export function isEmpty({ root }: Database): boolean {
  return root === NO_PAGE;
}

export function databaseAt(view: DataView, at: number): Database {
  return {
    flags: view.getUint16(at + 4, true),
    depth: view.getUint16(at + 6, true),
    branchPages: wordAt(view, at + 8),
    leafPages: wordAt(view, at + 16),
    overflowPages: wordAt(view, at + 24),
    entries: wordAt(view, at + 32),
    root: wordAt(view, at + 40),
  };
}

/** Reads 64 bits as a number. */
export function wordAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

export function pageKind(view: DataView, page = 0): number {
  return view.getUint16(page + PageField.FLAGS, true) & KINDS;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether a file begins as an LMDB database. */
export function hasMagic(head: Uint8Array): boolean {
  return head.length >= MetaField.VERSION &&
    viewOf(head).getUint32(MetaField.MAGIC, true) === MAGIC;
}

/** Whether a name is that of a database among others, such as `train.lmdb`: a file, or a directory with `data.mdb`. */
export function isShard(name: string): boolean {
  return name.endsWith(".lmdb");
}
