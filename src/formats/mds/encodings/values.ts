import { formatNumber } from "../../../codecs/json/format.ts";
import { arrayFromBytes } from "../../../codecs/numpy/array_bytes.ts";
import { parseDtype } from "../../../codecs/numpy/dtype.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { npyHeader, writeNpy } from "../../../codecs/numpy/npy.ts";
import { type ArrayHead, arrayHead, LONGEST_HEAD } from "./array_head.ts";
import { type Encoding, type ScalarKind, SCALARS } from "./encoding.ts";
import { ValueFault } from "./value_fault.ts";

/** By encoding, what reads its numbers: a name that is made of parts takes longer than the number. */
const READERS: Readonly<Record<string, `get${ScalarKind}`>> = Object
  .fromEntries(
    Object.entries(SCALARS).map((
      [name, kind],
    ) => [name, `get${kind}` as const]),
  );

/**
 * A number that stands there as the processor has it; a bigint beyond 2^53.
 *
 * @throws {ValueFault} If there are more bytes, or fewer.
 */
export function scalarOf(
  { name, size }: Encoding,
  bytes: Uint8Array,
): number | bigint {
  if (bytes.length !== size) {
    throw new ValueFault(`it has ${bytes.length} bytes and not ${size}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const value = view[READERS[name]!](0, true);
  return typeof value === "bigint" ? whole(value) : value;
}

/** A whole number: as a bigint only where it has to be one. */
function whole(number: bigint): number | bigint {
  const plain = Number(number);
  return Number.isSafeInteger(plain) ? plain : number;
}

/** What a file of a number says. */
export function numberFile(
  encoding: Encoding,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const number = scalarOf(encoding, bytes);
  const text = encoding.name.startsWith("float")
    ? formatNumber(number)
    : String(number);
  return new TextEncoder().encode(`${text}\n`);
}

/**
 * An array, or the pixels of a picture that is stored without compression.
 *
 * @throws {ValueFault} If the bytes are none.
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

/** The `.npy` of an array. */
export function arrayFile(
  encoding: Encoding,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return writeNpy(arrayOf(encoding, bytes));
}

/**
 * Bytes of that file.
 *
 * @param bytes The first bytes of the value, up to {@linkcode LONGEST_HEAD}.
 * @param length Bytes of the value.
 * @throws {ValueFault} If they are no array.
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

/** Bytes of a value that are looked at to know the size of its file. */
export function bytesLookedAt(length: number): number {
  return Math.min(length, LONGEST_HEAD);
}

/** A byte for each bit, the highest one first. */
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
