import { crc32cOf } from "../../io/checksums/crc32c.ts";
import { decompressedName } from "../../io/compressed/compressions.ts";

/** Bytes of a length and its checksum, before a record's data. */
export const HEADER = 12;
/** Bytes of the checksum after the data. */
export const FOOTER = 4;
/** Bytes of a record in addition to its data. */
export const FRAME = HEADER + FOOTER;
export const LENGTH = 8;

/** Added to checksums, so that checksums of data that contains checksums are no weaker. */
const MASK_DELTA = 0xa282ead8;

/** Returns a checksum as stored in files: rotated by 15 bits, with a constant added. */
export function masked(crc: number): number {
  return ((crc >>> 15 | crc << 17) + MASK_DELTA) >>> 0;
}

/** Returns the checksum that a file stores masked. */
export function unmasked(mask: number): number {
  const turned = (mask - MASK_DELTA) >>> 0;
  return (turned << 15 | turned >>> 17) >>> 0;
}

/** Reads a length; it is not exact from 2^53 on, which no file has. */
export function lengthAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

/** Whether a length matches the checksum after it; CRC-32C must be loaded. */
export function hasRightSum(
  bytes: Uint8Array,
  view: DataView,
  at: number,
): boolean {
  const crc = crc32cOf(bytes.subarray(at, at + LENGTH));
  return masked(crc) === view.getUint32(at + LENGTH, true);
}

/** Returns a length and its checksum, as stored before a record's data. */
export function headerOf(length: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(HEADER);
  const view = new DataView(header.buffer);
  view.setUint32(0, length % 2 ** 32, true);
  view.setUint32(4, Math.floor(length / 2 ** 32), true);
  const crc = crc32cOf(header.subarray(0, LENGTH));
  view.setUint32(LENGTH, masked(crc), true);
  return header;
}

/** Returns how a whole file seems compressed, in TensorFlow's terms; it is not if its first length has its checksum. */
export function compressionOf(head: Uint8Array): "GZIP" | "ZLIB" | undefined {
  const [first = 0, second = 0, third = 0] = head;
  if (first === 0x1f && second === 0x8b && third === 8) return "GZIP";
  return first === 0x78 && (first << 8 | second) % 31 === 0
    ? "ZLIB"
    : undefined;
}

/** Names such as `x.tfrecord`, `x.tfrecords`, `x.tfrecord-00000-of-00010`. */
const NAMED = /\.tfrecords?(?:[.-][^/]*)?$/i;
/** Names such as `train-00000-of-00010`, without the extension of another format. */
const NUMBERED = /(?:^|\/)[^./]*-\d{5,}-of-\d{5,}$/;

/** Names of indexes next to files of this format. */
const INDEX = /\.(?:idx|index|recordfs-index)$/i;

/** Whether a name is one of this format only. Compressed files are given to the format by the names without suffixes. */
export function isNamedSo(path: string): boolean {
  return NAMED.test(path) && !INDEX.test(path) &&
    decompressedName(path) === path;
}

/** Whether a directory entry may be one of its shards, by its name. */
export function isShard(name: string): boolean {
  return isNamedSo(name) || NUMBERED.test(name);
}
