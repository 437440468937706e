/**
 * Headers of tar archives: for those that are read, and those that are written.
 *
 * @module
 */
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

const FILE = 0x30;
const DIRECTORY = 0x35;
/** `L`: what follows is the name of the next member. */
const LONG_NAME = 0x4c;
const LONG_LINK = new TextEncoder().encode("././@LongLink");

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
  member: NewMember,
  isDirectory: boolean,
): Uint8Array {
  const bytes = new Uint8Array(headerLength(member));
  writeHeader(bytes, member, isDirectory);
  return bytes;
}

/** How many bytes the headers of a member have. */
export function headerLength({ name }: NewMember): number {
  return name.length <= Length.NAME ? BLOCK : longName(name.length);
}

/** The same where the name does not fit: it has a header and blocks of its own before. */
function longName(length: number): number {
  return BLOCK + padded(length + 1) + BLOCK;
}

/**
 * Writes the headers of a member.
 *
 * @param into Memory of {@linkcode headerLength} bytes, whatever they hold.
 */
export function writeHeader(
  into: Uint8Array,
  { name, size, mtime }: NewMember,
  isDirectory: boolean,
): void {
  const kind = isDirectory ? DIRECTORY : FILE;
  const own = into.length - BLOCK;
  if (own > 0) {
    const length = name.length + 1; // with a NUL
    writeBlock(into, LONG_LINK, LONG_NAME, length, 0);
    into.fill(0, BLOCK + name.length, own);
    into.set(name, BLOCK);
  }
  writeBlock(into.subarray(own), name, kind, size, mtime);
}

/** What all headers have in common. */
const BLANK = blank();

function blank(): Uint8Array {
  const bytes = new Uint8Array(BLOCK);
  for (const at of [108, 116]) writeOctal(bytes, at, 0, 8); // root's
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
  for (let i = 0; i < BLOCK; i++) sum += into[i]!;
  writeOctal(into, Field.CHECKSUM, sum, Length.CHECKSUM - 1);
}

function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  if (number < MOST_OCTAL) return writeOctal(bytes, at, number, Length.SIZE);
  bytes[at] = 0x80;
  const { buffer, byteOffset } = bytes;
  new DataView(buffer, byteOffset + at + Length.SIZE - 8)
    .setBigUint64(0, BigInt(number));
}

/** Writes octal digits that with the NUL behind them have that length. */
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
