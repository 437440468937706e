import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { fillNow } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { ListEncoding } from "./encoding.ts";
import { ValueFault } from "./value_fault.ts";

/** Bytes of the number of elements, and of each size. */
const WORD = 4;
const PIECE = 1 << 16;

export interface ListPlace {
  readonly source: ByteSource;
  readonly offset: number;
  readonly length: number;
}

/** Returns the elements of a list in memory; throws a {@linkcode ValueFault} if they do not fill it exactly. */
export function elementsOf(
  { before }: ListEncoding,
  bytes: Uint8Array<ArrayBuffer>,
): Iterable<Uint8Array<ArrayBuffer>> {
  const head = before + WORD;
  if (bytes.length < head) throw tooShort();
  const view = viewOf(bytes);
  const count = view.getUint32(before, true);
  requireRoom(count, bytes.length - head);
  const first = head + count * WORD;
  requireFilled(first + sumOf(view, head, count), bytes.length);
  return (function* () {
    let start = first;
    for (let i = 0; i < count; i++) {
      const end = start + view.getUint32(head + i * WORD, true);
      yield bytes.subarray(start, end);
      start = end;
    }
  })();
}

/**
 * Reads the number of elements of a list. Their sizes fit into it, or this throws a {@linkcode ValueFault}; whether the
 * elements fill it is not verified.
 */
export function* elementCount(
  { before }: ListEncoding,
  { source, offset, length }: ListPlace,
): Steps<number> {
  if (length < before + WORD) throw tooShort();
  const head = new Uint8Array(WORD);
  yield* fillNow(source, head, offset + before);
  const count = viewOf(head).getUint32(0, true);
  requireRoom(count, length - before - WORD);
  return count;
}

/**
 * Reads the offset of each of `count` elements in a list, and the end of the last one. Throws a {@linkcode ValueFault}
 * if they do not fill the list exactly.
 */
export function* elementStarts(
  { before }: ListEncoding,
  { source, offset, length }: ListPlace,
  count: number,
): Steps<Float64Array> {
  const sizes = new Uint8Array(count * WORD);
  yield* fillNow(source, sizes, offset + before + WORD);
  const view = viewOf(sizes);
  const starts = new Float64Array(count + 1);
  let at = before + WORD + sizes.length;
  for (let i = 0; i < count; i++) {
    starts[i] = at;
    at += view.getUint32(i * WORD, true);
  }
  starts[count] = at;
  requireFilled(at, length);
  return starts;
}

/** Throws a {@linkcode ValueFault} if a list's elements do not fill it exactly. Uses bounded memory. */
export function* requireSoundList(
  encoding: ListEncoding,
  place: ListPlace,
): Steps<void> {
  const count = yield* elementCount(encoding, place);
  const { source, offset, length } = place;
  const head = encoding.before + WORD;
  const piece = new Uint8Array(Math.min(count, PIECE) * WORD);
  let end = head + count * WORD;
  for (let done = 0; done < count; done += PIECE) {
    const some = Math.min(PIECE, count - done);
    const bytes = piece.subarray(0, some * WORD);
    yield* fillNow(source, bytes, offset + head + done * WORD);
    end += sumOf(viewOf(bytes), 0, some);
  }
  requireFilled(end, length);
}

export function listOf(
  { before }: ListEncoding,
  elements: readonly Uint8Array[],
): Uint8Array {
  const head = before + WORD * (1 + elements.length);
  const length = elements.reduce((sum, { length }) => sum + length, head);
  const bytes = new Uint8Array(length);
  const view = viewOf(bytes);
  view.setUint32(before, elements.length, true);
  let at = head;
  for (const [i, element] of elements.entries()) {
    view.setUint32(before + WORD * (1 + i), element.length, true);
    bytes.set(element, at);
    at += element.length;
  }
  return bytes;
}

function sumOf(view: DataView, at: number, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += view.getUint32(at + i * WORD, true);
  return sum;
}

function requireRoom(count: number, room: number): void {
  if (count * WORD <= room) return;
  throw new ValueFault(
    `it declares ${count} elements, but is too short for their sizes`,
  );
}

function requireFilled(end: number, length: number): void {
  if (end === length) return;
  throw new ValueFault(
    `it has ${length} bytes, but the sizes of its elements give ${end}`,
  );
}

function tooShort(): ValueFault {
  return new ValueFault("it is truncated before the number of its elements");
}
