/**
 * The records of zips, one by one: files `a`, `b`, `c` and `z`, and ends of both kinds that lie.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { header } from "./make_zip.ts";

const NOTHING = Buffer.alloc(0);

/** Contents of files by their names; `z` is a zip. */
const CONTENTS: Record<string, string> = { a: "one", b: "three", c: "xyzzy" };

/** Content of a file, by its letter. */
export function contentOf(name: string): string | undefined {
  return CONTENTS[name];
}

function fieldsOf(name: string, offset: number) {
  const data = Buffer.from(CONTENTS[name]!, "latin1");
  const size = data.length;
  const crc = zlib.crc32(data);
  const extra = NOTHING;
  return { name, flags: 0, method: 0, crc, packed: size, size, offset, extra };
}

/** A content of that name behind its header. */
export function local(name: string): Buffer {
  return Buffer.concat([
    header(0x04034b50, fieldsOf(name, 0)),
    Buffer.from(CONTENTS[name]!, "latin1"),
  ]);
}

/** A content behind a header with a field of 40 bytes that the directory has not. */
export function longer(name: string): Buffer {
  const bytes = local(name);
  const field = Buffer.alloc(40);
  field.writeUInt16LE(0x9999);
  field.writeUInt16LE(36, 2);
  bytes.writeUInt16LE(field.length, 28);
  return Buffer.concat([bytes.subarray(0, 31), field, bytes.subarray(31)]);
}

/** A header of the directory, which is {@linkcode HEAD} bytes long without its comment. */
export function head(
  name: string,
  offset: number,
  comment: Buffer = NOTHING,
): Buffer {
  const bytes = header(0x02014b50, fieldsOf(name, offset), { name });
  bytes.writeUInt16LE(comment.length, 32);
  return Buffer.concat([bytes, comment]);
}

/** What an end says. */
export interface EndFields {
  readonly comment?: Buffer;
  /** Length of the comment, where it is not that. */
  readonly told?: number;
  readonly disk?: number;
  readonly directoryDisk?: number;
  readonly here?: number;
}

/** An end; `fields` are those in which it lies. */
export function end(
  count: number,
  length: number,
  offset: number,
  fields: EndFields = {},
): Buffer {
  const { comment = NOTHING, disk = 0, directoryDisk = 0 } = fields;
  const bytes = Buffer.alloc(22);
  bytes.writeUInt32LE(0x06054b50);
  bytes.writeUInt16LE(disk, 4);
  bytes.writeUInt16LE(directoryDisk, 6);
  bytes.writeUInt16LE(fields.here ?? count, 8);
  bytes.writeUInt16LE(count, 10);
  bytes.writeUInt32LE(length, 12);
  bytes.writeUInt32LE(offset, 16);
  bytes.writeUInt16LE(fields.told ?? comment.length, 20);
  return Buffer.concat([bytes, comment]);
}

/** What an end of zip64 says. */
export interface WideFields extends Omit<EndFields, "comment" | "told"> {
  /** Its length, without the first 12 bytes. */
  readonly size?: number;
  readonly extensible?: Buffer;
}

/** An end of zip64. */
export function wideEnd(
  count: number | bigint,
  length: number | bigint,
  offset: number | bigint,
  fields: WideFields = {},
): Buffer {
  const { extensible = NOTHING, disk = 0 } = fields;
  const bytes = Buffer.alloc(56);
  bytes.writeUInt32LE(0x06064b50);
  bytes.writeBigUInt64LE(BigInt(fields.size ?? 44 + extensible.length), 4);
  bytes.writeUInt16LE(45, 12);
  bytes.writeUInt16LE(45, 14);
  bytes.writeUInt32LE(disk, 16);
  bytes.writeUInt32LE(disk, 20);
  bytes.writeBigUInt64LE(BigInt(fields.here ?? count), 24);
  bytes.writeBigUInt64LE(BigInt(count), 32);
  bytes.writeBigUInt64LE(BigInt(length), 40);
  bytes.writeBigUInt64LE(BigInt(offset), 48);
  return Buffer.concat([bytes, extensible]);
}

/** What leads to an end of zip64. */
export function locator(at: number | bigint, disks = 1, disk = 0): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32LE(0x07064b50);
  bytes.writeUInt32LE(disk, 4);
  bytes.writeBigUInt64LE(BigInt(at), 8);
  bytes.writeUInt32LE(disks, 16);
  return bytes;
}

/** Numbers that are too large for a field, of 16 and of 32 bits. */
export const [FULL, WIDE] = [0xffff, 0xffff_ffff];
/** Bytes of a header of the directory, without a comment. */
export const HEAD = 47;
export const A: Buffer = local("a");
export const B: Buffer = local("b");
/** Where the directory is behind the contents of both. */
export const AT: number = A.length + B.length;
export const headA: Buffer = head("a", 0);
export const headB: Buffer = head("b", A.length);
/** All of a zip of both but its end. */
export const both: readonly Buffer[] = [A, B, headA, headB];
/** A zip of `a`. */
export const one: Buffer = Buffer.concat([A, headA, end(1, HEAD, A.length)]);
CONTENTS.z = one.toString("latin1");

/** So many bytes of something else. */
export function x(count: number): Buffer {
  return Buffer.alloc(count, "x");
}

/** What unzip 6.0, 7-Zip 26.02, Python 3.11 and bsdtar 3.6 find, by letters; `-` is a refusal, `0` an empty zip. */
export type Found = `${string} ${string} ${string} ${string}`;

/** A zip: what it is, its bytes, what is found in it, and what has to be found here, where `-` is no sound zip. */
export type ZipEnd = readonly [string, readonly Buffer[], Found, string];
