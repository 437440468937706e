/**
 * Headers of tar archives, for reading and writing.
 *
 * @module
 */
/** Bytes of a tar block; headers and contents begin at multiples of it. */
export const TAR_BLOCK = 512;

/** Byte offsets of header fields (ustar, POSIX.1-1988; only ustar has `prefix`). */
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

/** Lengths of header fields in bytes. */
export const Length = {
  NAME: 100,
  MODE: 8,
  SIZE: 12,
  MTIME: 12,
  CHECKSUM: 8,
  LINK: 100,
  PREFIX: 155,
} as const;

/** Rounds a content size up to whole blocks. */
export function padded(size: number): number {
  return Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
}

/** First size that does not fit eleven octal digits; from here on sizes are written in base 256, as GNU tar does. */
const MOST_OCTAL = 8 ** 11;

const FILE = 0x30;
const DIRECTORY = 0x35;
/** Type `L`: the content is the name of the next member. */
const LONG_NAME = 0x4c;
const LONG_LINK = new TextEncoder().encode("././@LongLink");

/** Header fields of a member to write. */
export interface NewMember {
  /** Path; that of a directory ends in a slash. */
  readonly name: Uint8Array;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly mtime: number;
}

/** Returns the headers of a member in GNU tar format. A long name, of any bytes, gets a header of its own before. */
export function memberHeader(
  member: NewMember,
  isDirectory: boolean,
): Uint8Array {
  const bytes = new Uint8Array(headerLength(member));
  writeHeader(bytes, member, isDirectory);
  return bytes;
}

/** Returns the total length of a member's headers in bytes. */
export function headerLength({ name }: NewMember): number {
  return name.length <= Length.NAME ? TAR_BLOCK : longName(name.length);
}

/** Header length for a name that does not fit: the name has a header and blocks of its own. */
function longName(length: number): number {
  return TAR_BLOCK + padded(length + 1) + TAR_BLOCK;
}

/** Writes the headers of a member `into` memory of {@linkcode headerLength} bytes, which need not be zeroed. */
export function writeHeader(
  into: Uint8Array,
  { name, size, mtime }: NewMember,
  isDirectory: boolean,
): void {
  const kind = isDirectory ? DIRECTORY : FILE;
  const own = into.length - TAR_BLOCK;
  if (own > 0) {
    const length = name.length + 1; // with a NUL
    writeBlock(into, LONG_LINK, LONG_NAME, length, 0);
    into.fill(0, TAR_BLOCK + name.length, own);
    into.set(name, TAR_BLOCK);
  }
  writeBlock(into.subarray(own), name, kind, size, mtime);
}

/** Fields that all headers have in common. */
const BLANK = blank();

function blank(): Uint8Array {
  const bytes = new Uint8Array(TAR_BLOCK);
  for (const at of [108, 116]) writeOctal(bytes, at, 0, 8); // owner and group: root
  bytes.fill(0x20, Field.CHECKSUM, Field.CHECKSUM + Length.CHECKSUM);
  bytes.set(new TextEncoder().encode("ustar  \0"), Field.MAGIC);
  return bytes;
}

function writeBlock(
  into: Uint8Array,
  name: Uint8Array,
  type: number,
  size: number,
  mtime: number,
): void {
  into.set(BLANK);
  into.set(
    name.length > Length.NAME ? name.subarray(0, Length.NAME) : name,
    Field.NAME,
  );
  writeOctal(into, Field.MODE, type === DIRECTORY ? 0o755 : 0o644, 8);
  writeNumber(into, Field.SIZE, size);
  writeNumber(into, Field.MTIME, Math.max(0, Math.floor(mtime / 1000)));
  into[Field.TYPE] = type;
  let sum = 0;
  for (let i = 0; i < TAR_BLOCK; i++) sum += into[i]!;
  writeOctal(into, Field.CHECKSUM, sum, Length.CHECKSUM - 1);
}

function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  if (number < MOST_OCTAL) return writeOctal(bytes, at, number, Length.SIZE);
  bytes[at] = 0x80;
  const { buffer, byteOffset } = bytes;
  new DataView(buffer, byteOffset + at + Length.SIZE - 8)
    .setBigUint64(0, BigInt(number));
}

/** Writes octal digits, followed by a NUL; `length` includes the NUL. */
function writeOctal(
  bytes: Uint8Array,
  at: number,
  number: number,
  length: number,
): void {
  let rest = number;
  for (let i = at + length - 2; i >= at; i--) {
    bytes[i] = 0x30 + rest % 8;
    rest = Math.floor(rest / 8);
  }
  bytes[at + length - 1] = 0;
}
