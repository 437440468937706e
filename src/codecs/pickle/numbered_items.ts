import { Op } from "./opcodes.ts";

/**
 * Items of a dict as Python pickles short names with a number each: `SHORT_BINUNICODE length name
 * MEMOIZE`, then `BININT1`, `BININT2` or `BININT` with the number; a new FRAME may begin before
 * either. A folder of files is made of nothing else, so a run of such items is kept as where it
 * lies, and not taken apart before it is used.
 *
 * @module
 */

/** Items in a {@linkcode NumberedBatch}. */
const BATCH = 1024;

/** Bytes of FRAME with its length. */
const FRAME_BYTES = 9;

/**
 * Measures the longest run of items.
 *
 * @param start Position of the first one.
 * @returns The position behind the run, and how many items it has, maybe none.
 */
export function measureNumberedItems(
  bytes: Uint8Array,
  start: number,
): { readonly end: number; readonly count: number } {
  let count = 0;
  let end = start;
  for (;;) {
    // A position past the end reads as undefined, which no opcode equals.
    const name = skipFrame(bytes, end);
    if (bytes[name] !== Op.SHORT_BINUNICODE) break;
    const memoize = name + 2 + bytes[name + 1]!;
    if (bytes[memoize] !== Op.MEMOIZE) break;
    const number = skipFrame(bytes, memoize + 1);
    const width = widthOf(bytes[number]!);
    const next = number + 1 + width;
    if (width === 0 || next > bytes.length) break;
    end = next;
    count++;
  }
  return { end, count };
}

/** Numbered items taken out of the pickle, a batch at a time. */
export class NumberedBatch {
  /** Their number. */
  length = 0;
  /** Where the items behind them start. */
  next = 0;
  /** Per item: where its name starts and ends in the pickle, and its number, maybe negative. */
  readonly starts = new Int32Array(BATCH);
  readonly ends = new Int32Array(BATCH);
  readonly values = new Int32Array(BATCH);
}

/**
 * Takes up to 1024 items of a run that was measured out of the pickle.
 *
 * @param start Position of the first one.
 * @param count How many are left in the run.
 */
export function takeNumberedItems(
  bytes: Uint8Array,
  start: number,
  count: number,
  into: NumberedBatch,
): void {
  const { starts, ends, values } = into;
  const length = Math.min(count, BATCH);
  let at = start;
  for (let i = 0; i < length; i++) {
    const name = skipFrame(bytes, at) + 2;
    const end = name + bytes[name - 1]!;
    const number = skipFrame(bytes, end + 1);
    const width = widthOf(bytes[number]!);
    starts[i] = name;
    ends[i] = end;
    values[i] = numberAt(bytes, number + 1, width);
    at = number + 1 + width;
  }
  into.length = length;
  into.next = at;
}

/** Visits the items of a run that was measured, for callers that are in no hurry. */
export function* numberedItems(
  bytes: Uint8Array,
  start: number,
  count: number,
): Generator<{ start: number; end: number; value: number }> {
  const batch = new NumberedBatch();
  for (let at = start, left = count; left > 0; left -= batch.length) {
    takeNumberedItems(bytes, at, left, batch);
    at = batch.next;
    for (let i = 0; i < batch.length; i++) {
      yield {
        start: batch.starts[i]!,
        end: batch.ends[i]!,
        value: batch.values[i]!,
      };
    }
  }
}

/** A frame that claims to be longer than the pickle ends the run: somebody else will refuse it. */
function skipFrame(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== Op.FRAME) return at;
  let size = 0;
  for (let k = at + 8; k > at; k--) size = size * 256 + (bytes[k] ?? 255);
  return size <= bytes.length - at - FRAME_BYTES ? at + FRAME_BYTES : at;
}

/** Bytes of the number after an opcode; 0 where it is none of the three. */
function widthOf(opcode: number): number {
  if (opcode === Op.BININT2) return 2;
  if (opcode === Op.BININT1) return 1;
  return opcode === Op.BININT ? 4 : 0;
}

/** One expression for all widths: a path first taken at name 65,536 would undo the compiled code. */
function numberAt(bytes: Uint8Array, at: number, width: number): number {
  let number = 0;
  for (let k = at + width - 1; k >= at; k--) number = number << 8 | bytes[k]!;
  return number;
}
