import { messageOf } from "../../base/message_text.ts";
import { strictUtf8Text } from "../../base/utf8.ts";
import { JsonScanner, withSentinel } from "../json/scanner.ts";
import { type ExactJson, parseExactJson } from "../json/value.ts";
import { MsgpackFloat } from "../msgpack/value.ts";
import { cellsOf, type ColumnNames, columnNames } from "./csv_cells.ts";

/** Why a row of a text file cannot be decoded. */
export class RowFault {
  /** Continues "… cannot be decoded: ". */
  readonly why: string;
  /** Whether the row is whole: a row that was cut does not look so. */
  readonly isWhole: boolean;

  constructor(why: string, isWhole = false) {
    this.why = why;
    this.isWhole = isWhole;
  }
}

/** Members of a line's object, or the field `content` of another value. */
export type Members = readonly (readonly [name: string, value: ExactJson])[];

/** Bytes of a row; `undefined` if they are too many. */
type RowBytes = Uint8Array | undefined;

/** Longest row in bytes that is decoded: a string of JavaScript takes up to 2^29 characters, and its values far more. */
export const LARGEST_ROW = 64 << 20;
/** Lines up to this length cannot be nested too deep: half of it opens, the other half closes. */
const SHALLOW = 2000;

/**
 * Decodes a line of JSON.
 *
 * @param parse Parses it; by default, so that `1.0` stays a float.
 */
export function decodeLine(
  bytes: RowBytes,
  parse: (text: string) => ExactJson = parseExactJson,
): Members | RowFault {
  const text = textOf(bytes);
  if (text instanceof RowFault) return text;
  try {
    if (text.length > SHALLOW) {
      new JsonScanner(withSentinel(bytes!)).skipValue();
    }
    return membersOf(parse(text));
  } catch (error) {
    return new RowFault(`it is not JSON: ${messageOf(error)}`);
  }
}

function membersOf(value: ExactJson): Members {
  if (value instanceof Map) return [...value];
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value) && !(value instanceof MsgpackFloat);
  return isObject ? Object.entries(value) : [["content", value]];
}

/**
 * Splits rows of CSV into cells; `loadCsv` must have ended.
 *
 * @param columns Number of cells that each must have; by default, any number.
 */
export function splitRows(
  rows: readonly RowBytes[],
  delimiter: string,
  columns?: number,
): (readonly string[] | RowFault)[] {
  const texts = rows.map(textOf);
  const split = cellsOf(
    texts.filter((text) => typeof text === "string"),
    delimiter,
  );
  let next = 0;
  return texts.map((text) => {
    if (text instanceof RowFault) return text;
    const cells = split[next++];
    if (cells === undefined) return new RowFault("its quotes do not match");
    const { length } = cells;
    if (length === (columns ?? length)) return cells;
    const why = `it has ${length} cells, and the header has ${columns}`;
    return new RowFault(why, length > columns!);
  });
}

/** Decodes the first row of a CSV to the names of its columns. */
export function decodeHeader(
  bytes: RowBytes,
  delimiter: string,
): ColumnNames | RowFault {
  const [cells] = splitRows([bytes], delimiter);
  if (cells instanceof RowFault) return cells;
  return cells!.some((cell) => cell.includes("\r"))
    ? new RowFault("it has carriage returns. Convert them (tr '\\r' '\\n')")
    : columnNames(cells!);
}

function textOf(bytes: RowBytes): string | RowFault {
  if (bytes === undefined || bytes.length > LARGEST_ROW) {
    return new RowFault(`it has more than ${LARGEST_ROW} bytes`, true);
  }
  try {
    return strictUtf8Text(bytes);
  } catch {
    return new RowFault("its text is not UTF-8");
  }
}
