/** Bytes are not a Protocol Buffers message; the error message says where. */
export class WireError extends Error {
  override readonly name = "WireError";
}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** Maximum bytes of a tag or length, and of an integer. */
const LONGEST_LENGTH = 5;
const LONGEST_VARINT = 10;

/** Iterates over the fields of a message without copying values. */
export class WireFields {
  /** Number of the current field. */
  field = 0;
  type = 0;
  /** Start of its value, which follows the length if it is length-delimited. */
  start: number;
  end: number;
  readonly #bytes: Uint8Array;
  readonly #stop: number;

  /** @param end End of the message in the bytes. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.start = start;
    this.end = start;
    this.#stop = end;
  }

  /** Moves to the next field, if any; throws WireError if it is invalid, or does not end inside the message. */
  next(): boolean {
    if (this.end === this.#stop) return false;
    this.start = this.end;
    const tag = this.#length("tag");
    this.field = Math.floor(tag / 8);
    this.type = tag % 8;
    if (this.field === 0) throw wrong(this.start, "field 0");
    this.start = this.end;
    switch (this.type) {
      case VARINT:
        this.end = this.#varintEnd(LONGEST_VARINT, "integer");
        break;
      case FIXED64:
        this.#take(8);
        break;
      case FIXED32:
        this.#take(4);
        break;
      case BYTES: {
        const length = this.#length("length");
        this.start = this.end;
        this.#take(length);
        break;
      }
      default:
        throw wrong(this.start, `wire type ${this.type}`);
    }
    return true;
  }

  /** Reads a tag or length after the previous value, and moves past it. */
  #length(what: string): number {
    const end = this.#varintEnd(LONGEST_LENGTH, what);
    let value = 0;
    for (let i = end - 1; i >= this.end; i--) {
      value = value * 128 + (this.#bytes[i]! & 0x7f);
    }
    this.end = end;
    return value;
  }

  #varintEnd(longest: number, what: string): number {
    const from = this.end;
    const stop = Math.min(this.#stop, from + longest);
    for (let i = from; i < stop; i++) {
      if (this.#bytes[i]! < 0x80) return i + 1;
    }
    throw wrong(from, `a ${what} that does not end`);
  }

  #take(length: number): void {
    this.end = this.start + length;
    if (this.end <= this.#stop) return;
    throw wrong(
      this.start,
      `a value of ${length} bytes where ${this.#stop - this.start} are left`,
    );
  }
}

/** Counts the integers in bytes, each of which has one last byte. */
export function countVarints(
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  let count = 0;
  for (let i = start; i < end; i++) count += bytes[i]! >>> 7 ^ 1;
  return count;
}

/**
 * Decodes consecutive integers as two's complement of 64 bits to `words`, the lower and the upper word of each, from
 * integer `at` on. Throws WireError if one does not end.
 */
export function decodeVarints(
  bytes: Uint8Array,
  start: number,
  end: number,
  words: DataView,
  at: number,
): void {
  let [low, high, shift] = [0, 0, 0];
  let to = 8 * at;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    const bits = byte & 0x7f;
    if (shift >= 7 * LONGEST_VARINT) {
      throw wrong(i, "an integer that does not end");
    }
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >>> 4;
    } else high |= bits << shift - 32;
    shift += 7;
    if (byte >= 0x80) continue;
    words.setUint32(to, low, true);
    words.setUint32(to + 4, high, true);
    to += 8;
    low = high = shift = 0;
  }
  if (shift > 0) throw wrong(end, "an integer that does not end");
}

function wrong(at: number, what: string): WireError {
  return new WireError(`${what} at byte ${at}`);
}
