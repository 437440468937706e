import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { changedFile } from "../../../io/storage/changed_file.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  DATA_VERSION,
  type Database,
  databaseAt,
  isEmpty,
  LEAST_PAGE_SIZE,
  MAGIC,
  MetaField,
  MOST_DEPTH,
  MOST_PAGE_SIZE,
  PageField,
  PageFlag,
  pageKind,
  Size,
  viewOf,
  wordAt,
} from "../layout.ts";

/** A state of a database, as the meta page of a transaction describes it. */
export interface Meta {
  readonly pageSize: number;
  /** Pages in use are below this number. */
  readonly pageCount: number;
  readonly main: Database;
  /** Offset of the meta page. */
  readonly offset: number;
  /** The meta page, as stored. Other programs replace it two transactions later, and pages in use not before. */
  readonly bytes: Uint8Array;
  /** Why the other meta page cannot be used, so that this may be an earlier state. */
  readonly fault: FormatError | undefined;
}

/**
 * Reads the newer of the two meta pages, and makes later reads fail once it is replaced.
 *
 * @throws {FormatError} If neither can be used, or the file ends before its root.
 */
export function* readMeta(source: ByteSource): Steps<Meta> {
  const first = yield* readPart(source, 0, Math.min(source.size, Size.META));
  const pageSize = pageSizeIn(source, first);
  if (source.size < pageSize + Size.META) throw truncated(source, 2 * pageSize);
  const pages = [first, yield* readPart(source, pageSize, Size.META)];
  const faults = pages.map((bytes, number) =>
    faultOf(source, viewOf(bytes), number, pageSize)
  );
  const sound = [0, 1].filter((number) => faults[number] === undefined);
  if (sound.length === 0) throw faults[0]!;
  const newest = sound.length === 2 && isNewer(pages[1]!, first)
    ? 1
    : sound[0]!;
  const bytes = pages[newest]!;
  const offset = newest * pageSize;
  const view = viewOf(bytes);
  const main = databaseAt(view, MetaField.MAIN_DATABASE);
  const pageCount = wordAt(view, MetaField.LAST_PAGE) + 1;
  if (!isEmpty(main) && (main.root + 1) * pageSize > source.size) {
    throw truncated(source, pageCount * pageSize);
  }
  source.guard?.(offset, bytes);
  const fault = faults[1 - newest];
  return { pageSize, pageCount, main, offset, bytes, fault };
}

/** Throws FormatError (`changed`) if the meta page has been replaced, so that pages may have been as well. */
export function* requireCurrent(
  source: ByteSource,
  { offset, bytes }: Meta,
): Steps<void> {
  const now = yield* readPart(source, offset, bytes.length);
  if (!now.every((byte, i) => byte === bytes[i])) {
    throw changedFile(source.name);
  }
}

function isNewer(a: Uint8Array, b: Uint8Array): boolean {
  const [left, right] = [a, b].map((bytes) =>
    viewOf(bytes).getBigUint64(MetaField.TRANSACTION, true)
  );
  return left! > right!;
}

/** Returns the page size. Throws FormatError if the file is not a database that is read. */
function pageSizeIn(source: ByteSource, first: Uint8Array): number {
  const { name: path } = source;
  const refuse = (code: FormatError["code"], why: string, actual?: unknown) =>
    new FormatError(code, `Cannot open ${path}: ${why}`, { path, actual });
  if (first.length < Size.META) {
    throw refuse(
      "truncated",
      `its ${first.length} bytes are less than the meta page of an LMDB database. Download it again`,
    );
  }
  const view = viewOf(first);
  const magic = view.getUint32(MetaField.MAGIC, true);
  if (magic !== MAGIC) {
    // The magic number precedes this position by the smaller header of a 32-bit program.
    const isNarrow = view.getUint32(MetaField.MAGIC - 4, true) === MAGIC;
    const isSwapped = view.getUint32(MetaField.MAGIC, false) === MAGIC;
    if (isNarrow || isSwapped) {
      throw refuse(
        "unsupported",
        `a ${
          isNarrow ? "32-bit" : "big-endian"
        } program wrote it, whose LMDB databases are laid out differently. ` +
          "Convert it there with mdb_dump, and here with mdb_load",
      );
    }
    throw refuse(
      "bad-structure",
      "it does not begin with a meta page of LMDB. Download it again",
      magic,
    );
  }
  const version = view.getUint32(MetaField.VERSION, true);
  if (version !== DATA_VERSION) {
    throw refuse(
      "unsupported",
      `it is of version ${version} of LMDB's data format, and only version ${DATA_VERSION} (LMDB 0.9) is read. ` +
        "Convert it with mdb_dump and mdb_load",
      version,
    );
  }
  const pageSize = view.getUint32(MetaField.FREE_DATABASE, true);
  const isSize = pageSize >= LEAST_PAGE_SIZE && pageSize <= MOST_PAGE_SIZE &&
    (pageSize & pageSize - 1) === 0;
  if (isSize) return pageSize;
  throw refuse(
    "bad-structure",
    `its page size is ${pageSize}, which is not a power of two from ${LEAST_PAGE_SIZE} to ${MOST_PAGE_SIZE}. ` +
      "Download it again",
    pageSize,
  );
}

/** Why a meta page cannot be used; `undefined` if it can. */
function faultOf(
  { name: path }: ByteSource,
  view: DataView,
  number: number,
  pageSize: number,
): FormatError | undefined {
  const main = databaseAt(view, MetaField.MAIN_DATABASE);
  const isMeta = view.getUint32(MetaField.MAGIC, true) === MAGIC &&
    view.getUint32(MetaField.VERSION, true) === DATA_VERSION &&
    view.getUint32(MetaField.FREE_DATABASE, true) === pageSize &&
    wordAt(view, PageField.NUMBER) === number &&
    pageKind(view) === PageFlag.META;
  const last = wordAt(view, MetaField.LAST_PAGE);
  const isRoot = isEmpty(main) ||
    main.root > 1 && main.root <= last && main.depth <= MOST_DEPTH;
  if (isMeta && isRoot) return undefined;
  const offset = number * pageSize;
  return new FormatError(
    "bad-structure",
    `Cannot read meta page ${number} of ${path}: ${
      isMeta
        ? "its main database is impossible"
        : "its fields are not those of a meta page"
    }. Download the database again`,
    { path, offset },
  );
}

function truncated(
  { name: path, size }: ByteSource,
  expected: number,
): FormatError {
  return new FormatError(
    "truncated",
    `Cannot open ${path}: it has ${size} of ${expected} bytes: it was truncated. Download it again`,
    { path, expected, actual: size },
  );
}
