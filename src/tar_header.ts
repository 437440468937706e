/**
 * Headers of tar archives: for those that are read, and those that are written.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** Bytes of a block; headers and contents begin at multiples of it. */
export const BLOCK = 512;

/** Where the fields of a header start (ustar, POSIX.1-1988; `prefix` is only its). */
export const Field = {
  NAME: 0,
  MODE: 100,
  SIZE: 124,
  MTIME: 136,
  CHECKSUM: 148,
  TYPE: 156,
  LINK: 157,
  MAGIC: 257,
  PREFIX: 345,
} as const;

/** How many bytes they have. */
export const Length = {
  NAME: 100,
  MODE: 8,
  SIZE: 12,
  MTIME: 12,
  CHECKSUM: 8,
  LINK: 100,
  PREFIX: 155,
} as const;

/** Bytes of a content with those that fill its last block. */
export function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** Sizes from here on do not fit eleven octal digits: they are written by base 256, as GNU tar does. */
const MOST_OCTAL = 8 ** 11;

const FILE = "0";
const DIRECTORY = "5";
const LONG_NAME = "L";

/** What a header says of a member. */
export interface NewMember {
  /** Its path; one of a directory ends in a slash. */
  readonly name: Uint8Array;
  readonly size: number;
  /** In milliseconds since 1970. */
  readonly mtime: number;
}

/** The headers of a member, in the form of GNU tar: a long name, of any bytes, stands before. */
export function memberHeader(
  { name, size, mtime }: NewMember,
  isDirectory: boolean,
): Uint8Array {
  const kind = isDirectory ? DIRECTORY : FILE;
  const own = header(name, kind, size, mtime);
  if (name.length <= Length.NAME) return own;
  const long = new Uint8Array(padded(name.length + 1));
  long.set(name);
  const link = new TextEncoder().encode("././@LongLink");
  return Buffer.concat([
    header(link, LONG_NAME, name.length + 1, 0),
    long,
    own,
  ]);
}

function header(
  name: Uint8Array,
  type: string,
  size: number,
  mtime: number,
): Uint8Array {
  const bytes = Buffer.alloc(BLOCK);
  bytes.set(name.subarray(0, Length.NAME), Field.NAME);
  const mode = type === DIRECTORY ? 0o755 : 0o644;
  for (
    const [at, number] of [[Field.MODE, mode], [108, 0], [116, 0]] as const
  ) {
    bytes.write(octal(number, 8), at, "latin1");
  }
  writeNumber(bytes, Field.SIZE, size);
  writeNumber(bytes, Field.MTIME, Math.max(0, Math.floor(mtime / 1000)));
  bytes.write(" ".repeat(Length.CHECKSUM), Field.CHECKSUM, "latin1");
  bytes.write(type, Field.TYPE, "latin1");
  bytes.write("ustar  \0", Field.MAGIC, "latin1");
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${octal(sum, 7)} `, Field.CHECKSUM, "latin1");
  return bytes;
}

function writeNumber(bytes: Buffer, at: number, number: number): void {
  if (number < MOST_OCTAL) {
    bytes.write(octal(number, Length.SIZE), at, "latin1");
    return;
  }
  bytes[at] = 0x80;
  bytes.writeBigUInt64BE(BigInt(number), at + Length.SIZE - 8);
}

/** Octal digits that with the NUL behind them have that length. */
function octal(number: number, length: number): string {
  return `${number.toString(8).padStart(length - 1, "0")}\0`;
}
