import { FormatError } from "../../../base/errors.ts";
import {
  type ColumnNames,
  isCsvLoaded,
  loadCsv,
} from "../../../codecs/rows/csv_cells.ts";
import {
  decodeHeader,
  decodeLine,
  LARGEST_ROW,
  type Members,
  RowFault,
  splitRows,
} from "../../../codecs/rows/decode_row.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { findRows, nulIn, type TextRow } from "../../../io/read/text_rows.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { whenReady } from "../../../io/storage/must_wait.ts";
import { type Cut, endsInside } from "../../../tree/records/cut.ts";
import type { LineKind } from "../kinds.ts";

/** Loads what parses rows of a kind. */
export function* loadParser({ delimiter }: LineKind, of: string): Steps<void> {
  if (delimiter !== undefined) yield* whenReady(of, isCsvLoaded, loadCsv);
}

/** A row and what it holds: members of a line's object, cells, or why it cannot be decoded. */
export interface SurveyedRow extends TextRow {
  readonly found: Members | readonly string[] | RowFault;
  /** Set if it is the last row, and cut. */
  readonly cut: Cut | undefined;
}

/** Limit of lines that are not JSON before the first that is. */
const MOST_FAULTS = 1000;
const UNCLOSED = new RowFault("its last quote is not closed");

/** Makes the error for a file that is not of a kind, such as a binary one. */
export function notOfKind(
  path: string,
  { title }: LineKind,
  why: string,
): FormatError {
  const message = `Cannot open ${path}: it is not ${title}: ${why}`;
  return new FormatError("bad-structure", message, { path, offset: 0 });
}

/**
 * Reads a file once, and decodes its rows.
 *
 * @param visit Called with each row but the header, in order.
 * @returns The columns, none of lines of JSON, with notes on the file.
 * @throws {FormatError} If the file is not of this kind: binary, without a header, or with only other lines than JSON
 *   among the first.
 */
export function* surveyRows(
  source: ByteSource,
  kind: LineKind,
  visit: (row: SurveyedRow) => void,
): Steps<ColumnNames> {
  const { delimiter, unit } = kind;
  const { name: path, size } = source;
  yield* loadParser(kind, path);
  const nul = yield* nulIn(source);
  if (nul >= 0) {
    const why = `byte ${nul} is NUL, which no text in UTF-8 has. ` +
      "Convert one in UTF-16 with `iconv -f UTF-16 -t UTF-8`";
    throw notOfKind(path, kind, why);
  }
  let [number, faults] = [0, 0];
  let isOpen = false;
  let columns: ColumnNames | undefined;
  yield* findRows(source, delimiter, LARGEST_ROW, ([...rows]) => {
    if (delimiter !== undefined && columns === undefined) {
      const header = rows.shift();
      if (header === undefined) return;
      const found = header.lacks === "quote"
        ? UNCLOSED
        : decodeHeader(header.bytes, delimiter);
      isOpen = header.lacks !== undefined;
      if (!(found instanceof RowFault)) columns = found;
      else throw notOfKind(path, kind, `its header: ${found.why}`);
    }
    const texts = rows.map(({ bytes }) => bytes);
    const all = delimiter === undefined
      ? texts.map((bytes) => decodeLine(bytes))
      : splitRows(texts, delimiter, columns!.names.length);
    for (const [i, row] of rows.entries()) {
      const found = row.lacks === "quote" ? UNCLOSED : all[i]!;
      const isFault = found instanceof RowFault;
      const isCut = isFault && row.lacks !== undefined && !found.isWhole;
      const cut = isCut
        ? endsInside(unit, number, row, size, found.why)
        : undefined;
      if (isFault) faults++;
      isOpen = row.lacks !== undefined && !isFault;
      visit({ ...row, found, cut });
      number++;
      const isNone = isFault && faults === number && faults === MOST_FAULTS;
      if (delimiter === undefined && isNone) {
        throw notOfKind(path, kind, `${unit} ${number}: ${found.why}`);
      }
    }
  });
  const { names, notes } = columns ?? { names: [], notes: [] };
  const note = "its last row ends without a newline, and may be cut";
  return { names, notes: columns && isOpen ? [...notes, note] : notes };
}
