import { FormatError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  Extra,
  Flag,
  forEachExtra,
  IN_ZIP64,
  Method,
  methodName,
  Signature,
  Size,
  uint64,
} from "../layout.ts";
import { fromCp437, isUtf8 } from "./cp437.ts";
import { dosTime } from "./dos_time.ts";
import { type Directory, findDirectory } from "./end_record.ts";
import { type Member, ZipBuilder } from "./zip_builder.ts";
import type { ZipIndex } from "./zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Bytes of the directory that are read at a time: a server is asked once, unless it is very large. */
const WINDOW = 64 << 20;
/** The most that one header has, with its path, extra fields and comment. */
const LONGEST = Size.CENTRAL + 3 * 0xffff;

/** Zstandard has no decoder here that goes piece by piece: contents are decoded at once. */
const MOST_ZSTD = 64 << 20;

/** Where it says what made a member: `Unix`, which gives its mode. */
const UNIX = 3;
const KIND_BITS = 0o170000;
const LINK = 0o120000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;

/**
 * Reads the central directory of a zip.
 *
 * @throws {FormatError} If it is damaged, lies, or has what is not supported.
 */
export function* readDirectory(source: ByteSource): Steps<ZipIndex> {
  const directory = yield* findDirectory(source);
  return yield* new DirectoryReader(source, directory).run();
}

class DirectoryReader {
  readonly #source: ByteSource;
  readonly #directory: Directory;
  readonly #builder: ZipBuilder;
  // What is looked at of the directory, and where that is in the file.
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #start: number;

  constructor(source: ByteSource, directory: Directory) {
    this.#source = source;
    this.#directory = directory;
    this.#start = directory.start;
    this.#builder = new ZipBuilder(source.name, directory.start);
  }

  *run(): Steps<ZipIndex> {
    const { count, start, end } = this.#directory;
    let offset = start;
    for (let i = 0; i < count; i++) {
      const left = this.#start + this.#bytes.length - offset;
      if (left < LONGEST && this.#start + this.#bytes.length < end) {
        yield* this.#move(offset);
      }
      offset += this.#take(offset - this.#start, i);
    }
    if (offset !== end) {
      throw this.#damage(
        offset,
        `goes on for ${end - offset} bytes behind the last of ${count} headers`,
      );
    }
    return this.#builder.finish();
  }

  *#move(offset: number): Steps<void> {
    const length = Math.min(WINDOW, this.#directory.end - offset);
    this.#bytes = yield* readPart(this.#source, offset, length);
    this.#view = new DataView(this.#bytes.buffer);
    this.#start = offset;
  }

  /** Takes a header; returns how long it is. */
  #take(at: number, number: number): number {
    const view = this.#view;
    const isThere = at + Size.CENTRAL <= this.#bytes.length &&
      view.getUint32(at, true) === Signature.CENTRAL;
    const pathStart = at + Size.CENTRAL;
    const pathEnd = isThere ? pathStart + view.getUint16(at + 28, true) : 0;
    const extraEnd = isThere ? pathEnd + view.getUint16(at + 30, true) : 0;
    const end = isThere ? extraEnd + view.getUint16(at + 32, true) : 0;
    if (!isThere || end > this.#bytes.length) {
      throw this.#damage(
        this.#start + at,
        `has no header of member ${number} where it should be, or a cut one`,
      );
    }
    this.#add(at, pathStart, pathEnd, extraEnd);
    return end - at;
  }

  #add(
    at: number,
    pathStart: number,
    pathEnd: number,
    extraEnd: number,
  ): void {
    const view = this.#view;
    const flags = view.getUint16(at + 8, true);
    const method = view.getUint16(at + 10, true);
    const stored = this.#bytes.subarray(pathStart, pathEnd);
    const pathSum = crc32Of(stored);
    const isUnix = view.getUint8(at + 5) === UNIX;
    let path = (flags & Flag.UTF8) !== 0 || isUnix && isUtf8(stored)
      ? stored
      : fromCp437(stored);
    let time = dosTime(
      view.getUint16(at + 14, true),
      view.getUint16(at + 12, true),
    );
    let size = view.getUint32(at + 24, true);
    let packed = view.getUint32(at + 20, true);
    let header = view.getUint32(at + 42, true);
    forEachExtra(view, pathEnd, extraEnd, (kind, start, end) => {
      if (kind === Extra.ZIP64) {
        let next = start;
        // Those that have no room in the header, in this order.
        const take = () => next + 8 > end ? NaN : uint64(view, (next += 8) - 8);
        if (size === IN_ZIP64) size = take();
        if (packed === IN_ZIP64) packed = take();
        if (header === IN_ZIP64) header = take();
      } else if (kind === Extra.TIMES && end >= start + 5) {
        if ((view.getUint8(start) & 1) !== 0) {
          time = view.getInt32(start + 1, true) * 1000;
        }
      } else if (kind === Extra.UNICODE_PATH && end > start + 5) {
        // Of another path, where its CRC-32 is not this one's.
        const isOf = view.getUint8(start) === 1 &&
          view.getUint32(start + 1, true) === pathSum;
        if (isOf) path = this.#bytes.subarray(start + 5, end);
      }
    });
    this.#requireReadable(path, flags, method, size, at);
    const member: Member = {
      path,
      pathLength: pathEnd - pathStart,
      pathSum,
      method,
      crc32: view.getUint32(at + 16, true),
      packed,
      size,
      header: header + this.#directory.before,
      time,
    };
    const kind = isUnix ? view.getUint16(at + 40, true) & KIND_BITS : 0;
    if (kind === LINK) this.#builder.leaveOut(member, "a symbolic link");
    else if (kind === 0 || kind === REGULAR || kind === DIRECTORY) {
      this.#builder.add(member);
    } else this.#builder.leaveOut(member, "a device, pipe or socket");
  }

  #requireReadable(
    path: Uint8Array,
    flags: number,
    method: number,
    size: number,
    at: number,
  ): void {
    const refuse = (why: string) =>
      memberError("unsupported", this.#source.name, path, why, {
        offset: this.#start + at,
      });
    const { ENCRYPTED, STRONG_ENCRYPTION, MASKED, PATCH } = Flag;
    if ((flags & (ENCRYPTED | STRONG_ENCRYPTION | MASKED)) !== 0) {
      throw refuse(
        "is encrypted: extract the zip with its password, and pack it again without one",
      );
    }
    const isKnown = method === Method.STORED || method === Method.DEFLATED ||
      method === Method.ZSTD;
    if (!isKnown || (flags & PATCH) !== 0) {
      const how = isKnown ? "a patch" : methodName(method);
      throw refuse(
        `is written by ${how}, which is not read here: extract the zip, and pack it again (zip -0, or convert)`,
      );
    }
    if (method === Method.ZSTD && size > MOST_ZSTD) {
      throw refuse(
        `is compressed by zstd, and has ${size} bytes, more than ${MOST_ZSTD}: extract the zip, and pack it again`,
      );
    }
  }

  #damage(offset: number, why: string): FormatError {
    const { name: path } = this.#source;
    return new FormatError(
      "bad-structure",
      `${path}: the central directory ${why}: it is damaged; fetch the zip again`,
      { path, offset },
    );
  }
}
