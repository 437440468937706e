import { viewOf } from "../../base/view_of.ts";
import { formatNumber } from "../../codecs/json/format.ts";
import { arrayFromBytes } from "../../codecs/numpy/array_bytes.ts";
import { parseDtype } from "../../codecs/numpy/dtype.ts";
import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { npyHeader, writeNpy } from "../../codecs/numpy/npy.ts";
import { type ArrayHead, arrayHead, LONGEST_HEAD } from "./array_head.ts";
import { type Encoding, type NumberKind, scalarSize } from "./encoding.ts";
import { ValueFault } from "./value_fault.ts";

/** Getters by type: building the method name takes longer than reading the number. */
const READERS = new Map<string | undefined, `get${NumberKind}`>(
  [
    ...["BigInt64", "BigUint64", "Float16", "Float32", "Float64"] as const,
    ...["Int8", "Int16", "Int32", "Uint8", "Uint16", "Uint32"] as const,
  ].map((kind) => [kind, `get${kind}`]),
);

/**
 * Reads a binary number; a bigint beyond 2^53, a Boolean from a byte. Throws a {@linkcode ValueFault} if the bytes are
 * invalid.
 */
export function scalarOf(
  { scalar }: Encoding,
  bytes: Uint8Array,
): number | bigint | boolean {
  const size = scalarSize(scalar!);
  if (bytes.length !== size) {
    throw new ValueFault(`it has ${bytes.length} bytes, not ${size}`);
  }
  const reader = READERS.get(scalar);
  if (reader === undefined) {
    if (bytes[0]! <= 1) return bytes[0] === 1;
    throw new ValueFault(`it is ${bytes[0]}, and not 0 or 1`);
  }
  const view = viewOf(bytes);
  const value = view[reader](0, true);
  return typeof value === "bigint" ? whole(value) : value;
}

function whole(number: bigint): number | bigint {
  const plain = Number(number);
  return Number.isSafeInteger(plain) ? plain : number;
}

export function numberFile(
  encoding: Encoding,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const number = scalarOf(encoding, bytes);
  const text = encoding.scalar!.startsWith("Float")
    ? formatNumber(number as number)
    : String(number);
  return new TextEncoder().encode(`${text}\n`);
}

/**
 * Decodes an array, or the pixels of an uncompressed picture; throws a {@linkcode ValueFault} if the bytes are invalid.
 */
export function arrayOf(encoding: Encoding, bytes: Uint8Array): NdArray {
  const head = arrayHead(encoding, bytes, bytes.length);
  const elements = bytes.subarray(head.start);
  const { dtype, shape } = head;
  return arrayFromBytes(
    dtype,
    shape,
    head.areBits ? unpackBits(elements, head) : elements,
  );
}

export function arrayFile(
  encoding: Encoding,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return writeNpy(arrayOf(encoding, bytes));
}

/**
 * Returns the size of the `.npy` file, from the first bytes of the value, up to {@linkcode LONGEST_HEAD}, and its
 * length. Throws a {@linkcode ValueFault} if they are not an array.
 */
export function arrayFileSize(
  encoding: Encoding,
  bytes: Uint8Array,
  length: number,
): number {
  const head = arrayHead(encoding, bytes, length);
  const { dtype, shape, start, areBits } = head;
  const elements = areBits ? shape[0]! * shape[1]! : length - start;
  return npyHeader(parseDtype(dtype).name, shape).length + elements;
}

/** Returns the number of leading bytes that determine the size of a value's file. */
export function bytesLookedAt(length: number): number {
  return Math.min(length, LONGEST_HEAD);
}

/** Expands bits to bytes, most significant bit first. */
function unpackBits(bits: Uint8Array, { shape }: ArrayHead): Uint8Array {
  const [height, width] = shape as [number, number];
  const rowBytes = Math.ceil(width / 8);
  const all = new Uint8Array(height * width);
  for (let row = 0; row < height; row++) {
    for (let x = 0; x < width; x++) {
      const byte = bits[row * rowBytes + (x >> 3)]!;
      all[row * width + x] = byte >> (7 - (x & 7)) & 1;
    }
  }
  return all;
}
