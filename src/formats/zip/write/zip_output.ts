import type { Steps } from "../../../io/concurrency/steps.ts";
import { GatheredBytes } from "../../../io/write/gathered_bytes.ts";
import { forEachPiece } from "../../../io/write/sample_data.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { Flag, IN_ZIP64, IN_ZIP64_16, Signature, Size } from "../layout.ts";

/** Versions needed for zip64, and for directories. */
const VERSION_64 = 45;
const VERSION = 20;
/** Made by Unix, with version 3.0 of the specification. */
const MADE_BY = 3 << 8 | 30;
const FILE_MODE = 0o100644;
const DIRECTORY_MODE = 0o040755;
/** DOS attribute of directories. */
const DOS_DIRECTORY = 0x10;
/** Bytes of the central directory gathered in one piece. */
const PIECE = 1 << 20;
/** First and last year of DOS times. */
const [FIRST_YEAR, LAST_YEAR] = [1980, 2107];

interface Begun {
  readonly name: Uint8Array;
  readonly offset: number;
  readonly size: number;
  readonly isDirectory: boolean;
}

/** Writes the members of a zip, stored, and its central directory at the end. */
export class ZipOutput extends GatheredBytes {
  readonly #dos: number;
  readonly #directory: Uint8Array[] = [];
  #directoryUsed = PIECE;
  #directoryLength = 0;
  #count = 0;

  /** @param mtime Modification time of all members. */
  constructor(
    file: ConstructorParameters<typeof GatheredBytes>[0],
    mtime: Date,
  ) {
    super(file, 0);
    this.#dos = dosTimeOf(mtime);
  }

  get count(): number {
    return this.#count;
  }

  *addDirectory(name: Uint8Array): Steps<void> {
    const path = new Uint8Array(name.length + 1);
    path.set(name);
    path[name.length] = 0x2f;
    const member = this.#begin(path, 0, true);
    yield* this.append(this.#header(member, 0));
    this.#list(member, 0);
  }

  *addFile(name: Uint8Array, content: Uint8Array): Steps<void> {
    const member = this.#begin(name, content.length, false);
    const crc = crc32Of(content);
    yield* this.append(this.#header(member, crc));
    yield* this.append(content);
    this.#list(member, crc);
  }

  /** Adds a file from a stream; returns its number of bytes: the zip is damaged if it is not `size`. */
  *addStream(
    name: Uint8Array,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ): Steps<number> {
    const member = this.#begin(name, size, false);
    yield* this.append(this.#header(member, 0));
    const start = this.end;
    const append = (piece: Uint8Array) => this.append(piece);
    let crc = 0;
    yield* forEachPiece(content, function* (piece) {
      crc = crc32Of(piece, crc);
      yield* append(piece);
    });
    const written = this.end - start;
    yield* this.#end(member, crc);
    return written;
  }

  /** Writes the central directory, and flushes. */
  *finish(): Steps<void> {
    const start = this.end;
    for (const [i, piece] of this.#directory.entries()) {
      const isLast = i === this.#directory.length - 1;
      yield* this.append(
        isLast ? piece.subarray(0, this.#directoryUsed) : piece,
      );
    }
    yield* this.append(this.#endRecords(start));
    yield* this.flush();
  }

  *append(bytes: Uint8Array): Steps<void> {
    if (bytes.length > this.room) {
      yield* this.flush();
      if (bytes.length > this.room) return yield* this.write(bytes);
    }
    this.add(bytes);
  }

  #begin(name: Uint8Array, size: number, isDirectory: boolean): Begun {
    return { name, offset: this.end, size, isDirectory };
  }

  /** Writes the CRC-32 to the local header, before the content. */
  *#end(member: Begun, crc: number): Steps<void> {
    yield* this.flush();
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, crc, true);
    yield* this.file.writeAt(bytes, member.offset + 14);
    this.#list(member, crc);
  }

  #header({ name, size }: Begun, crc: number): Uint8Array {
    const isWide = size >= IN_ZIP64;
    const extra = isWide ? 20 : 0;
    const bytes = new Uint8Array(Size.LOCAL + name.length + extra);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, Signature.LOCAL, true);
    this.#putCommon(view, 4, name, crc, isWide);
    view.setUint32(18, isWide ? IN_ZIP64 : size, true);
    view.setUint32(22, isWide ? IN_ZIP64 : size, true);
    view.setUint16(28, extra, true);
    bytes.set(name, Size.LOCAL);
    if (isWide) putZip64(view, Size.LOCAL + name.length, [size, size]);
    return bytes;
  }

  /** Fields of both headers, in this order: version needed, flags, method, time, CRC-32, length of the name. */
  #putCommon(
    view: DataView,
    at: number,
    name: Uint8Array,
    crc: number,
    isWide: boolean,
  ): void {
    const isAscii = name.every((byte) => byte < 0x80);
    view.setUint16(at, isWide ? VERSION_64 : VERSION, true);
    view.setUint16(at + 2, isAscii ? 0 : Flag.UTF8, true);
    view.setUint16(at + 4, 0, true); // stored
    view.setUint32(at + 6, this.#dos, true);
    view.setUint32(at + 10, crc, true);
    view.setUint16(at + 22, name.length, true);
  }

  #list({ name, size, offset, isDirectory }: Begun, crc: number): void {
    const wide = [
      ...size >= IN_ZIP64 ? [size, size] : [],
      ...offset >= IN_ZIP64 ? [offset] : [],
    ];
    const extra = wide.length > 0 ? 4 + 8 * wide.length : 0;
    const bytes = new Uint8Array(Size.CENTRAL + name.length + extra);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, Signature.CENTRAL, true);
    view.setUint16(4, MADE_BY, true);
    this.#putCommon(view, 6, name, crc, wide.length > 0);
    const shown = Math.min(size, IN_ZIP64);
    view.setUint32(20, shown, true);
    view.setUint32(24, shown, true);
    view.setUint16(30, extra, true);
    const mode = isDirectory ? DIRECTORY_MODE : FILE_MODE;
    view.setUint16(38, isDirectory ? DOS_DIRECTORY : 0, true);
    view.setUint16(40, mode, true);
    view.setUint32(42, Math.min(offset, IN_ZIP64), true);
    bytes.set(name, Size.CENTRAL);
    if (extra > 0) putZip64(view, Size.CENTRAL + name.length, wide);
    this.#gather(bytes);
    this.#count++;
  }

  #gather(bytes: Uint8Array): void {
    this.#directoryLength += bytes.length;
    for (let taken = 0; taken < bytes.length;) {
      if (this.#directoryUsed === PIECE) {
        this.#directory.push(new Uint8Array(PIECE));
        this.#directoryUsed = 0;
      }
      const part = bytes.subarray(taken, taken + PIECE - this.#directoryUsed);
      this.#directory.at(-1)!.set(part, this.#directoryUsed);
      this.#directoryUsed += part.length;
      taken += part.length;
    }
  }

  #endRecords(start: number): Uint8Array {
    const [count, length] = [this.#count, this.#directoryLength];
    const isWide = count >= IN_ZIP64_16 || length >= IN_ZIP64 ||
      start >= IN_ZIP64;
    const first = isWide ? Size.END64 + Size.LOCATOR64 : 0;
    const bytes = new Uint8Array(first + Size.END);
    const view = new DataView(bytes.buffer);
    const put = (at: number, number: number) =>
      view.setBigUint64(at, BigInt(number), true);
    if (isWide) {
      view.setUint32(0, Signature.END64, true);
      put(4, Size.END64 - 12);
      view.setUint16(12, MADE_BY, true);
      view.setUint16(14, VERSION_64, true);
      put(24, count);
      put(32, count);
      put(40, length);
      put(48, start);
      view.setUint32(Size.END64, Signature.LOCATOR64, true);
      put(Size.END64 + 8, start + length);
      view.setUint32(Size.END64 + 16, 1, true);
    }
    view.setUint32(first, Signature.END, true);
    const shown = Math.min(count, IN_ZIP64_16);
    view.setUint16(first + 8, shown, true);
    view.setUint16(first + 10, shown, true);
    view.setUint32(first + 12, Math.min(length, IN_ZIP64), true);
    view.setUint32(first + 16, Math.min(start, IN_ZIP64), true);
    return bytes;
  }
}

function putZip64(view: DataView, at: number, numbers: readonly number[]) {
  view.setUint16(at, 1, true);
  view.setUint16(at + 2, 8 * numbers.length, true);
  for (const [i, number] of numbers.entries()) {
    view.setBigUint64(at + 4 + 8 * i, BigInt(number), true);
  }
}

/** Returns DOS time and date as the two consecutive fields. */
function dosTimeOf(mtime: Date): number {
  const year = mtime.getFullYear();
  if (!(year >= FIRST_YEAR)) return (1 << 5 | 1) << 16;
  const date = year > LAST_YEAR ? new Date(LAST_YEAR, 11, 31) : mtime;
  const day = (date.getFullYear() - FIRST_YEAR) << 9 |
    (date.getMonth() + 1) << 5 | date.getDate();
  const time = date.getHours() << 11 | date.getMinutes() << 5 |
    date.getSeconds() >> 1;
  return (day << 16 | time) >>> 0;
}
