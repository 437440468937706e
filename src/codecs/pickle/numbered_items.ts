import { Op } from "./opcodes.ts";

/**
 * Items of a dict as Python pickles short names with a number each: `SHORT_BINUNICODE length name MEMOIZE`, then
 * `BININT1`, `BININT2` or `BININT` with the number; a FRAME may precede either. A folder's files consist of nothing
 * else, so only the offset of such a run is stored, and its items are decoded on use.
 *
 * @module
 */

const BATCH = 1024;

const FRAME_BYTES = 9;

/** Measures the longest run of items from `start`, and returns its end and number of items, which may be 0. */
export function measureNumberedItems(
  bytes: Uint8Array,
  start: number,
): { readonly end: number; readonly count: number } {
  let count = 0;
  let end = start;
  for (;;) {
    // Offsets past the end read as `undefined`, which equals no opcode.
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

/** Batch of decoded items. */
export class NumberedBatch {
  length = 0;
  /** Offset of the item after the batch. */
  next = 0;
  /** Per item: start and end of its name in the pickle, and its number, which may be negative. */
  readonly starts = new Int32Array(BATCH);
  readonly ends = new Int32Array(BATCH);
  readonly values = new Int32Array(BATCH);
}

/** Decodes up to 1024 items of a measured run, from offset `start`, of which `count` are left. */
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

/** Iterates over the items of a measured run; slower than {@linkcode takeNumberedItems}. */
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

/** Does not skip a frame longer than the pickle: it ends the run, and the pickle machine rejects it. */
function skipFrame(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== Op.FRAME) return at;
  let size = 0;
  for (let k = at + 8; k > at; k--) size = size * 256 + (bytes[k] ?? 255);
  return size <= bytes.length - at - FRAME_BYTES ? at + FRAME_BYTES : at;
}

/** Size of an opcode's number in bytes; 0 for other opcodes. */
function widthOf(opcode: number): number {
  if (opcode === Op.BININT2) return 2;
  if (opcode === Op.BININT1) return 1;
  return opcode === Op.BININT ? 4 : 0;
}

/** One expression for all widths: a branch first taken at number 65,536 would deoptimize the compiled code. */
function numberAt(bytes: Uint8Array, at: number, width: number): number {
  let number = 0;
  for (let k = at + width - 1; k >= at; k--) number = number << 8 | bytes[k]!;
  return number;
}
