import { yieldWhenDue } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FAR_WINDOW } from "./far_headers.ts";
import { fillNow, readPart } from "./read_part.ts";

/** Bytes of a local file that are read at a time. */
const NEAR_WINDOW = 1 << 20;

const [TAB, LF, CR, SPACE, QUOTE] = [0x09, 0x0a, 0x0d, 0x20, 0x22];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A row of a text file: a line, or several of which all but the last end in quotes. */
export interface TextRow {
  /** Offsets in the file; the end is that before `\n` or `\r\n`. */
  readonly start: number;
  readonly end: number;
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Its bytes, valid during the visit; `undefined` if they are more than the limit. */
  readonly bytes: Uint8Array | undefined;
  /** What its end lacks, if it is the last: `\n`, or the quote that closes its last cell. */
  readonly lacks: "newline" | "quote" | undefined;
}

/**
 * Finds the rows of a text file by reading it once, in memory of at most twice `longest` bytes. Skips a byte order mark
 * and empty rows.
 *
 * @param delimiter Character between cells, which may be quoted and then contain newlines; `undefined` if each line is a
 *   row, of which those of blanks are skipped too.
 * @param longest Longest row in bytes whose bytes are given.
 * @param visit Called with the rows of each piece of the file.
 */
export function* findRows(
  source: ByteSource,
  delimiter: string | undefined,
  longest: number,
  visit: (rows: readonly TextRow[]) => void,
): Steps<void> {
  const { size, readAtSync } = source;
  const most = longest + 2; // with `\r\n`
  const isFar = readAtSync === undefined;
  const window = Math.min(isFar ? FAR_WINDOW : NEAR_WINDOW, most);
  const ends = new RowEnds(delimiter);
  let memory = new Uint8Array(Math.min(window, size));
  // Offset of `memory` in the file, and bytes in it.
  let [base, filled] = [0, 0];
  let [start, line] = [0, 1];
  let isLong = false;
  let rows: TextRow[] = [];
  const add = (until: number, lacks: TextRow["lacks"]) => {
    let end = until;
    const at = start - base;
    if (end > start && memory[end - 1 - base] === CR) end--;
    const bytes = isLong || end - start > longest
      ? undefined
      : memory.subarray(at, end - base);
    if (bytes === undefined || !isBlank(bytes, delimiter)) {
      rows.push({ start, end, line, bytes, lacks });
    }
    [start, line, isLong] = [until + 1, ends.lines, false];
  };
  while (base + filled < size) {
    isLong ||= filled === most && start === base;
    // Of a row that is too long, the last byte may be that before a newline.
    const kept = isLong ? filled - 1 : start - base;
    memory.copyWithin(0, kept, filled);
    [base, filled] = [base + kept, filled - kept];
    if (filled > 0 && filled === memory.length) {
      const larger = new Uint8Array(Math.min(2 * filled, most));
      larger.set(memory);
      memory = larger;
    }
    const from = filled;
    const into = memory.subarray(
      from,
      Math.min(memory.length, from + window, size - base),
    );
    yield* fillNow(source, into, base + from);
    filled += into.length;
    if (base === 0 && from === 0 && hasMark(into)) {
      start = BYTE_ORDER_MARK.length;
    }
    let at = from === 0 ? Math.max(start - base, 0) : from;
    while ((at = ends.next(memory, at, filled)) >= 0) {
      add(base + at++, undefined);
    }
    visit(rows);
    rows = [];
    yield* perform(yieldWhenDue);
  }
  if (start >= size) return;
  add(size, ends.isQuoted ? "quote" : "newline");
  visit(rows);
}

/** Number of leading bytes that tell whether a file is text. */
const HEAD = 4096;

/** Returns the offset of a NUL at the start of a file, which no text in UTF-8 has; -1 if there is none. */
export function* nulIn(source: ByteSource): Steps<number> {
  const length = Math.min(HEAD, source.size);
  return (yield* readPart(source, 0, length)).indexOf(0);
}

/** Finds the newlines that end rows, in pieces of a file. */
class RowEnds {
  readonly #delimiter: number | undefined;
  /** Where a piece ended: at the start of a cell, in an unquoted or quoted one, or behind a quote in that. */
  #state: "start" | "plain" | "quoted" | "closing" = "start";
  /** Number of the line, from 1. */
  lines = 1;

  constructor(delimiter: string | undefined) {
    this.#delimiter = delimiter?.charCodeAt(0);
  }

  /** Whether the file so far ends in a quoted cell. */
  get isQuoted(): boolean {
    return this.#state === "quoted";
  }

  /** Returns the position of the next row's end, or -1. */
  next(bytes: Uint8Array, from: number, end: number): number {
    const delimiter = this.#delimiter;
    if (delimiter === undefined) {
      const at = bytes.subarray(0, end).indexOf(LF, from);
      if (at >= 0) this.lines++;
      return at;
    }
    let state = this.#state;
    for (let i = from; i < end; i++) {
      const byte = bytes[i];
      if (byte === LF) {
        this.lines++;
        if (state === "quoted") continue;
        this.#state = "start";
        return i;
      }
      if (state === "quoted") {
        if (byte === QUOTE) state = "closing";
      } else if (byte === delimiter) state = "start";
      else if (byte === QUOTE && state !== "plain") state = "quoted";
      else state = "plain";
    }
    this.#state = state;
    return -1;
  }
}

/** Whether a row is skipped: an empty one, and of JSON one of spaces. */
function isBlank(bytes: Uint8Array, delimiter: string | undefined): boolean {
  return bytes.length === 0 || delimiter === undefined &&
      bytes.every((byte) => byte === SPACE || byte === TAB || byte === CR);
}

function hasMark(head: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, i) => head[i] === byte);
}
