import { viewOf } from "../../../base/view_of.ts";
import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { requireSize } from "../../../io/storage/changed_file.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import * as layout from "../layout.ts";
import { MAGIC, Meta, Size, wordAt } from "../layout.ts";

/** A state of a database file, as the meta page of a transaction describes it. */
export interface Snapshot {
  readonly pageSize: number;
  /** Pages in use are below this number. */
  readonly pageCount: number;
  readonly main: layout.Database;
  /**
   * The meta page. The second transaction after it replaces it, and only those after that write to pages that are in
   * use here: the transaction before the last is what `mdb_page_alloc` spares without readers.
   */
  readonly guard: { readonly offset: number; readonly bytes: Uint8Array };
  /** Why the other meta page cannot be used, so that this may be an earlier state. */
  readonly fault: FormatError | undefined;
}

/** Bytes up to the end of the second meta page, if pages are of the usual size: one read is one request to a server. */
const USUAL = 4096 + Size.META;

/**
 * Reads the newer of the two meta pages.
 *
 * @throws {FormatError} If neither can be used, or the file ends before its root; with code `changed` if it has grown.
 */
export function* readSnapshot(
  source: ByteSource,
  storage: Storage,
): Steps<Snapshot> {
  const { name: path, size: actual } = source;
  const head = yield* readPart(source, 0, Math.min(actual, USUAL));
  const pageSize = pageSizeIn(path, head);
  const requireBytes = (expected: number) => {
    if (actual >= expected) return;
    const why = `it has ${actual} of ${expected} bytes: it was truncated`;
    throw refusal(path, "truncated", why, { expected, actual });
  };
  requireBytes(pageSize + Size.META);
  const second = pageSize + Size.META <= head.length
    ? head.slice(pageSize, pageSize + Size.META)
    : yield* readPart(source, pageSize, Size.META);
  const metas = [head.slice(0, Size.META), second];
  const faults = metas.map((bytes, number) =>
    isSound(viewOf(bytes), number, pageSize)
      ? undefined
      : refusal(path, "bad-structure", `its meta page ${number} is damaged`)
  );
  const [transaction, other] = metas
    .map((meta) => wordAt(viewOf(meta), Meta.TRANSACTION)) as [number, number];
  const isFirst = faults[1] !== undefined ||
    faults[0] === undefined && transaction > other;
  const [fault, spare] = isFirst ? faults : faults.toReversed();
  if (fault !== undefined) throw fault;
  const bytes = metas[isFirst ? 0 : 1]!;
  const main = layout.databaseAt(viewOf(bytes), Meta.MAIN_DATABASE);
  const pageCount = wordAt(viewOf(bytes), Meta.LAST_PAGE) + 1;
  // It may have grown between the look at its size and that at its meta page.
  if (pageCount * pageSize > actual) yield* requireSize(source, storage);
  if (!layout.isEmpty(main)) requireBytes((main.root + 1) * pageSize);
  const guard = { offset: isFirst ? 0 : pageSize, bytes };
  return { pageSize, pageCount, main, guard, fault: spare };
}

/** Returns the page size. Throws FormatError if the file is not a database that is read. */
function pageSizeIn(path: string, first: Uint8Array): number {
  if (first.length < Size.META) {
    throw refusal(path, "truncated", "it is shorter than a meta page of LMDB");
  }
  const view = viewOf(first);
  // The header of a page is shorter in 32-bit programs.
  const isOther = view.getUint32(Meta.MAGIC - 4, true) === MAGIC ||
    view.getUint32(Meta.MAGIC, false) === MAGIC;
  if (isOther) {
    const why =
      "a 32-bit or big-endian program wrote it, and these lay out databases differently";
    throw refusal(path, "unsupported", why);
  }
  const actual = view.getUint32(Meta.MAGIC, true);
  if (actual !== MAGIC) {
    const why = "it does not begin with a meta page of LMDB";
    throw refusal(path, "bad-structure", why, { expected: MAGIC, actual });
  }
  const version = view.getUint32(Meta.VERSION, true);
  if (version !== layout.DATA_VERSION) {
    const why =
      `it has version ${version} of LMDB's data format, and version ${layout.DATA_VERSION} is read`;
    throw refusal(path, "unsupported", why, { actual: version });
  }
  const pageSize = view.getUint32(Meta.PAGE_SIZE, true);
  const isPower = (pageSize & pageSize - 1) === 0;
  if (isPower && pageSize >= 512 && pageSize <= 65_536) return pageSize;
  const why =
    `its page size is ${pageSize}, not a power of two from 512 to 65536`;
  throw refusal(path, "bad-structure", why, { actual: pageSize });
}

/** Whether a meta page can be used. */
function isSound(view: DataView, number: number, pageSize: number): boolean {
  const main = layout.databaseAt(view, Meta.MAIN_DATABASE);
  const { root, depth } = main;
  const isRoot = root > 1 && root <= wordAt(view, Meta.LAST_PAGE) &&
    depth > 0 && depth <= layout.MOST_DEPTH;
  return view.getUint32(Meta.MAGIC, true) === MAGIC &&
    view.getUint32(Meta.PAGE_SIZE, true) === pageSize &&
    wordAt(view, 0) === number && layout.kindOf(view) === layout.Kind.META &&
    (isRoot || layout.isEmpty(main));
}

function refusal(
  path: string,
  code: FormatError["code"],
  why: string,
  facts: { readonly expected?: number; readonly actual?: number } = {},
): FormatError {
  const hint = code === "unsupported"
    ? "Convert it by mdb_dump where it was written, and mdb_load here"
    : "Download it again";
  const message = `Cannot open ${path}: ${why}. ${hint}`;
  return new FormatError(code, message, { path, ...facts });
}
