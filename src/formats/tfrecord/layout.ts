import { crc32cOf } from "../../io/sums/crc32c.ts";

/** Bytes of a length and its checksum, which stand before a record's data. */
export const HEADER = 12;
/** Bytes of the checksum behind it. */
export const FOOTER = 4;
/** Bytes of a record besides its data. */
export const FRAME = HEADER + FOOTER;
/** Bytes of the length alone. */
export const LENGTH = 8;

/** What is added to checksums, so that those of data that holds checksums are no worse. */
const MASK_DELTA = 0xa282ead8;

/** A checksum as it stands in the file: turned by 15 bits, with a constant added. */
export function masked(crc: number): number {
  return ((crc >>> 15 | crc << 17) + MASK_DELTA) >>> 0;
}

/** Returns the checksum that stands masked in the file. */
export function unmasked(mask: number): number {
  const turned = (mask - MASK_DELTA) >>> 0;
  return (turned << 15 | turned >>> 17) >>> 0;
}

/** The length at a place; it is not exact from 2^53 on, which no file has. */
export function lengthAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

/** Whether the length at a place has the checksum behind it; what takes it has to be loaded. */
export function hasRightSum(
  bytes: Uint8Array,
  view: DataView,
  at: number,
): boolean {
  const crc = crc32cOf(bytes.subarray(at, at + LENGTH));
  return masked(crc) === view.getUint32(at + LENGTH, true);
}

/** A length and its checksum, as they stand before a record's data. */
export function headerOf(length: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(HEADER);
  const view = new DataView(header.buffer);
  view.setUint32(0, length % 2 ** 32, true);
  view.setUint32(4, Math.floor(length / 2 ** 32), true);
  const crc = crc32cOf(header.subarray(0, LENGTH));
  view.setUint32(LENGTH, masked(crc), true);
  return header;
}

/** How a whole file may be compressed, by what TensorFlow calls it, unless its first length has its checksum. */
export function compressionOf(head: Uint8Array): "GZIP" | "ZLIB" | undefined {
  const [first = 0, second = 0, third = 0] = head;
  if (first === 0x1f && second === 0x8b && third === 8) return "GZIP";
  return first === 0x78 && (first << 8 | second) % 31 === 0
    ? "ZLIB"
    : undefined;
}

/** Of names: `x.tfrecord`, `x.tfrecords`, `x.tfrecord-00000-of-00010`, `x.tfrecord.gz`. */
const NAMED = /\.tfrecords?(?:[.-][^/]*)?$/i;
/** `train-00000-of-00010`: what the file's name says is no other format. */
const NUMBERED = /(?:^|\/)[^./]*-\d{5,}-of-\d{5,}$/;

/** Whether a name says that a file is of this format. */
export function isNamedSo(path: string): boolean {
  return NAMED.test(path);
}

/** Whether a file of a directory is one of its shards. */
export function isShard(name: string): boolean {
  return NAMED.test(name) || NUMBERED.test(name);
}
