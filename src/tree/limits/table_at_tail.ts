import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { checkIndexPage, ENTRY, readEntry } from "./limit_entries.ts";
import type { LimitedRecords } from "./limited_records.ts";

/**
 * Finds the table of record ends at the tail of a file: its last entry is the end of the records, which is where it
 * starts.
 *
 * @param what What the file should be, for messages: `bag`.
 * @param otherwise Other possible causes, for messages.
 * @throws {FormatError} If the file cannot end in such a table.
 */
export function* tableAtTail(
  source: ByteSource,
  what: string,
  otherwise: string,
): Steps<number> {
  const { name: path, size } = source;
  if (size < ENTRY) {
    throw new FormatError(
      "truncated",
      `Cannot read ${path}: it is too short for a ${what}: it has ${size} ` +
        `bytes, an index at least ${ENTRY}${otherwise}`,
      { path, expected: ENTRY, actual: size },
    );
  }
  const end = readEntry(yield* readPart(source, size - ENTRY, ENTRY), 0);
  const problem = end > size - ENTRY
    ? `its last entry says that the index starts past the end of the file, at byte ${end} of ${size}`
    : (size - end) % ENTRY !== 0
    ? `the index length is no multiple of ${ENTRY}: it starts at byte ${end} of ${size}`
    : undefined;
  if (problem === undefined) return end;
  throw new FormatError(
    "truncated",
    `Cannot read ${path}: the index does not fit the file: ${problem}. ` +
      `The file is truncated, or not a ${what}${otherwise}`,
    { path, offset: size - ENTRY, expected: size - ENTRY, actual: end },
  );
}

/** Number of entries checked on opening, at either end of the table. */
const PAGE = 512;

/** Throws if record bytes look like a table of ends because the tail of the file is lost. */
export function* checkTable(
  records: LimitedRecords,
  otherwise: string,
): Steps<void> {
  const { length } = records;
  const head = Math.min(length, PAGE);
  const tail = Math.max(head, length - PAGE);
  for (const [first, end] of [[0, head], [tail, length]] as const) {
    if (first === end) continue;
    const page = yield* records.readEntries(first, end - first);
    checkIndexPage(records, page, first, otherwise);
  }
}

/** Reads the end of the last record. Closes a table that is a file of its own if that fails. */
export function* lastEnd(records: LimitedRecords): Steps<number> {
  const { length, index, source } = records;
  try {
    return length === 0 ? 0 : yield* records.endByIndex(length - 1);
  } catch (error) {
    if (index !== source) index.close();
    throw error;
  }
}
