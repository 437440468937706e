import { viewOf } from "../../../base/view_of.ts";
import { LARGEST_PAGE, MOST_VALUES } from "../layout.ts";
import type { ParquetLibrary } from "../read/library.ts";
import type { StoredType } from "../values/schema.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

/** Maximum bits of a dictionary index or level. */
const WIDEST = 24;

const SIZES: Readonly<Partial<Record<StoredType, number>>> = {
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
};

/** Returns the bits needed for numbers up to a maximum. */
export function bitsOf(most: number): number {
  return 32 - Math.clz32(most);
}

/** Part of a page, to be validated before the library decodes it. */
export interface PagePart {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly at: number;
  readonly end: number;
}

export function partOf(
  bytes: Uint8Array,
  at = 0,
  end = bytes.length,
): PagePart {
  if (at > end || end > bytes.length) throw new CellFault("ends early");
  const view = viewOf(bytes);
  return { bytes, view, at, end };
}

/** Checks the number of values of a page or dictionary. */
export function checkCount(count: number, most: number = MOST_VALUES): void {
  if (!(count >= 0)) throw new CellFault(`has ${count} values`);
  if (count > most) {
    throw new CellFault(
      `has ${count} values, more than the limit of ${most}. Write it in ` +
        "smaller pages",
      "too-large",
    );
  }
}

/** Validates alternating RLE and bit-packed runs: the library would write as many numbers as a run declares. */
export function checkRuns(part: PagePart, bits: number, count: number): void {
  if (bits > WIDEST) throw new CellFault(`has numbers of ${bits} bits`);
  let { at } = part;
  const width = bits + 7 >> 3;
  for (let left = count; left > 0;) {
    const [header, next] = varint(part, at);
    at = next;
    const length = Math.floor(header / 2);
    if (header % 2 === 1) {
      const bytes = length * bits;
      const wanted = Math.ceil(left / 8);
      // The last run may be padded with extra numbers, whose bytes may be missing.
      const isWhole = bits > 0 && at + bytes <= part.end;
      if (length === 0 || !isWhole && length > wanted) {
        throw new CellFault(
          `has a run of ${8 * length} numbers, where ${left} are left`,
        );
      }
      if (at + Math.ceil(Math.min(left, 8 * length) * bits / 8) > part.end) {
        throw new CellFault("ends in a run of numbers");
      }
      at += bytes;
      left -= Math.min(left, 8 * length);
    } else {
      if (length > left) {
        throw new CellFault(
          `has a run of ${length} numbers, where ${left} are left`,
        );
      }
      at += width;
      if (at > part.end) throw new CellFault("ends in a run of numbers");
      left -= length;
    }
  }
}

/** Returns the runs that follow their length, such as levels in pages of version 1. */
export function sizedPart({ bytes, view, at, end }: PagePart): PagePart {
  const start = at + 4;
  if (start > end) throw new CellFault("ends early");
  return partOf(bytes, start, start + view.getUint32(at, true));
}

/** Physical type of values. */
export interface ValueKind {
  readonly type: StoredType;
  /** Bytes of a fixed-size value. */
  readonly length: number | undefined;
}

/** Validates that exactly the given number of values is present. */
export function checkValues(
  part: PagePart,
  encoding: string,
  count: number,
  { type, length }: ValueKind,
  library: ParquetLibrary,
): void {
  const isBytes = type === "BYTE_ARRAY";
  switch (encoding) {
    case "PLAIN":
      return isBytes
        ? checkPlainBytes(part, count)
        : requireBytes(part, sizeOf(type, length, count));
    case "BYTE_STREAM_SPLIT":
      if (isBytes || type === "BOOLEAN" || type === "INT96") break;
      return requireBytes(part, sizeOf(type, length, count));
    case "RLE":
      if (type !== "BOOLEAN") break;
      return checkRuns(sizedPart(part), 1, count);
    case "PLAIN_DICTIONARY":
    case "RLE_DICTIONARY": {
      if (type === "BOOLEAN") break;
      if (count === 0 && part.at === part.end) return;
      if (part.at >= part.end) throw new CellFault("ends early");
      const bits = part.bytes[part.at]!;
      return checkRuns({ ...part, at: part.at + 1 }, bits, count);
    }
    case "DELTA_BINARY_PACKED":
      if (type !== "INT32" && type !== "INT64") break;
      return checkDeltas(part, count);
    case "DELTA_LENGTH_BYTE_ARRAY":
      if (!isBytes) break;
      return checkDeltaLengths(part, count, library);
    case "DELTA_BYTE_ARRAY":
      if (!isBytes && type !== "FIXED_LEN_BYTE_ARRAY") break;
      return checkDeltaBytes(part, count, library);
  }
  throw new CellFault(
    `has values of ${type} in the unsupported encoding ` +
      `${encoding ?? "of an unknown number"}`,
    "unsupported",
  );
}

/** Returns the bytes of a number of fixed-size values. */
export function sizeOf(
  type: StoredType,
  length: number | undefined,
  count: number,
): number {
  if (type === "BOOLEAN") return Math.ceil(count / 8);
  const size = type === "FIXED_LEN_BYTE_ARRAY" ? length : SIZES[type];
  if (size === undefined || size <= 0) {
    throw new CellFault(`has values of ${size ?? "no known number of"} bytes`);
  }
  return count * size;
}

function requireBytes({ at, end }: PagePart, wanted: number): void {
  if (at + wanted > end) {
    throw new CellFault(
      `has ${end - at} bytes of values, and they take ${wanted}`,
    );
  }
}

function checkPlainBytes({ view, at, end }: PagePart, count: number): void {
  for (let i = 0; i < count; i++) {
    if (at + 4 > end) throw new CellFault(`ends before value ${i}`);
    at += 4 + view.getUint32(at, true);
  }
  if (at > end) throw new CellFault("ends in a value");
}

/** Validates delta encoding: the library allocates memory by its header. */
function checkDeltas(part: PagePart, count: number): void {
  if (count === 0) return;
  const [block, afterBlock] = varint(part, part.at);
  const [parts, afterParts] = varint(part, afterBlock);
  const [total] = varint(part, afterParts);
  const each = block / parts;
  const isRight = block > 0 && block % 128 === 0 && block <= 1 << 20 &&
    parts > 0 && Number.isInteger(each) && each % 32 === 0;
  if (!isRight) {
    throw new CellFault(
      `has differences in blocks of ${block} and ${parts} parts`,
    );
  }
  if (total !== count) {
    throw new CellFault(`has ${total} differences for ${count} values`);
  }
}

/** Returns delta-encoded lengths, and the offset of their end. */
function lengthsOf(
  part: PagePart,
  count: number,
  { deltaBinaryUnpack }: ParquetLibrary,
): { readonly lengths: Int32Array; readonly end: number } {
  const lengths = new Int32Array(count);
  if (count === 0) return { lengths, end: part.at };
  checkDeltas(part, count);
  const reader = { view: part.view, offset: part.at };
  deltaBinaryUnpack(reader, count, lengths);
  if (reader.offset > part.end) throw new CellFault("ends in its lengths");
  return { lengths, end: reader.offset };
}

function checkDeltaLengths(
  part: PagePart,
  count: number,
  library: ParquetLibrary,
): void {
  const { lengths, end } = lengthsOf(part, count, library);
  let at = end;
  for (const length of lengths) {
    if (length < 0) throw new CellFault(`has a value of ${length} bytes`);
    at += length;
  }
  if (at > part.end) throw new CellFault("ends in a value");
}

/** Validates values that share prefixes with their predecessors: a few bytes may expand to very many. */
function checkDeltaBytes(
  part: PagePart,
  count: number,
  library: ParquetLibrary,
): void {
  const { lengths: shared, end } = lengthsOf(part, count, library);
  const rest = lengthsOf({ ...part, at: end }, count, library);
  let [at, before, total] = [rest.end, 0, 0];
  for (let i = 0; i < count; i++) {
    const [same, more] = [shared[i]!, rest.lengths[i]!];
    if (same < 0 || more < 0 || same > before) {
      throw new CellFault(
        `has a value that shares ${same} bytes with one of ${before}`,
      );
    }
    before = same + more;
    at += more;
    total += before;
  }
  if (at > part.end) throw new CellFault("ends in a value");
  if (total > LARGEST_PAGE) {
    throw new CellFault(
      `has values of ${total} bytes, more than the limit of ` +
        `${LARGEST_PAGE}`,
      "too-large",
    );
  }
}

/** Reads a varint; returns it with the offset of its end. */
export function varint(
  { bytes, end }: PagePart,
  at: number,
): readonly [number, number] {
  let value = 0;
  for (let i = 0; i < 5 && at < end; i++) {
    const byte = bytes[at++]!;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return [value, at];
  }
  throw new CellFault("ends in a number, or has one that does not end");
}
