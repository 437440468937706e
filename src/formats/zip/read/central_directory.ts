import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  Extra,
  Flag,
  forEachExtra,
  IN_ZIP64,
  Signature,
  Size,
  uint64,
  variableSize,
} from "../layout.ts";
import { fromCp437, isUtf8 } from "./cp437.ts";
import {
  type Directory,
  findDirectory,
  requireNoOtherStart,
  twoEnds,
} from "./end_record.ts";
import { Fault } from "./faults.ts";
import { readLinkTarget } from "./link_target.ts";
import { unicodePath } from "./spelling.ts";
import { takeTime, type ToldTime } from "./times.ts";
import { type Member, type MemberPlaces, ZipBuilder } from "./zip_builder.ts";
import type { ZipIndex } from "./zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import type { SkippedMember } from "../../../tree/format.ts";

/** Bytes of the directory per read: one request to a server, unless the directory is very large. */
const WINDOW = 64 << 20;
/** Maximum size of a header with its path, extra fields and comment. */
const LONGEST = Size.CENTRAL + 3 * 0xffff;

/** Systems whose members have Unix modes: Unix and macOS. */
const UNIX: ReadonlySet<number> = new Set([3, 19]);
/** Systems whose members have DOS attributes: FAT, HPFS, NTFS, VFAT. */
const DOS: ReadonlySet<number> = new Set([0, 6, 10, 14]);
const KIND_BITS = 0o170000;
const LINK = 0o120000;
const DIRECTORY = 0o040000;
const DOS_DIRECTORY = 0x10;
const SLASH = 0x2f;

/**
 * Reads the central directory of a zip, and the targets of its symbolic links.
 *
 * @param onSkip Called with every skipped member.
 * @throws {FormatError} If it is damaged, so that members cannot be found.
 */
export function* readDirectory(
  source: ByteSource,
  onSkip?: (member: SkippedMember) => void,
): Steps<ZipIndex> {
  return (yield* readMembers(source, onSkip)).finish();
}

/** Reads the locations of a zip's members; throws like {@linkcode readDirectory}. */
export function* readPlaces(source: ByteSource): Steps<MemberPlaces> {
  return (yield* readMembers(source)).places();
}

function* readMembers(
  source: ByteSource,
  onSkip?: (member: SkippedMember) => void,
): Steps<ZipBuilder> {
  const directory = yield* findDirectory(source);
  return yield* new DirectoryReader(source, directory, onSkip).run();
}

class DirectoryReader {
  readonly #source: ByteSource;
  readonly #directory: Directory;
  readonly #builder: ZipBuilder;
  // Window of the directory, and its offset in the file.
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #start: number;
  readonly #told: ToldTime = { time: NaN, rank: 0 };
  /** The link read last, if its target is not read yet. */
  #link: Member | undefined;
  /** Number of members with a location and sizes, and the error of the first one without. */
  #found = 0;
  #cut: FormatError | undefined;
  /** Lowest offset of a local header. */
  #lowest = Infinity;

  constructor(
    source: ByteSource,
    directory: Directory,
    onSkip: ((member: SkippedMember) => void) | undefined,
  ) {
    this.#source = source;
    this.#directory = directory;
    this.#start = directory.start;
    this.#builder = new ZipBuilder(source.name, directory.start, onSkip);
  }

  *run(): Steps<ZipBuilder> {
    const { count, start, end } = this.#directory;
    let offset = start;
    for (let i = 0; i < count; i++) {
      const left = this.#start + this.#bytes.length - offset;
      if (left < LONGEST && this.#start + this.#bytes.length < end) {
        yield* this.#move(offset);
      }
      offset += this.#take(offset - this.#start, i);
      if (this.#link !== undefined) yield* this.#takeLink(this.#link);
    }
    if (offset !== end) {
      throw this.#damage(
        offset,
        `continues for ${end - offset} bytes after the last of ${count} ` +
          "headers",
      );
    }
    if (this.#found === 0 && this.#cut !== undefined) throw this.#cut;
    this.#builder.arrange();
    yield* this.#requireOneEnd();
    yield* requireNoOtherStart(this.#source, this.#lowest);
    return this.#builder;
  }

  /** Other end records must lie in contents, such as zips that are members; otherwise some programs would use them. */
  *#requireOneEnd(): Steps<void> {
    for (const place of this.#directory.otherEnds) {
      const member = this.#builder.memberAt(place);
      if (member === undefined) throw twoEnds(this.#source, place);
      if (place + Size.END <= member.end) continue;
      // Name and extra fields in the local header may be longer than in the directory.
      const header = yield* readPart(this.#source, member.start, Size.LOCAL);
      if (place + Size.END > member.end + variableSize(header)) {
        throw twoEnds(this.#source, place);
      }
    }
  }

  *#move(offset: number): Steps<void> {
    const length = Math.min(WINDOW, this.#directory.end - offset);
    this.#bytes = yield* readPart(this.#source, offset, length);
    this.#view = new DataView(this.#bytes.buffer);
    this.#start = offset;
  }

  /** Reads a header and returns its length. */
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
        `has no header of member ${number} where it should be, or a ` +
          "truncated one",
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
    const system = view.getUint8(at + 5);
    const isUnix = UNIX.has(system);
    let path = (flags & Flag.UTF8) !== 0 || isUnix && isUtf8(stored)
      ? stored
      : fromCp437(stored);
    const told = this.#told;
    told.rank = 0;
    told.time = dosTime(
      view.getUint16(at + 14, true),
      view.getUint16(at + 12, true),
    );
    let size = view.getUint32(at + 24, true);
    let packed = view.getUint32(at + 20, true);
    let header = view.getUint32(at + 42, true);
    forEachExtra(view, pathEnd, extraEnd, (kind, start, end) => {
      if (kind === Extra.ZIP64) {
        let next = start;
        // The values that do not fit in the header, in this order.
        const take = () => next + 8 > end ? NaN : uint64(view, (next += 8) - 8);
        if (size === IN_ZIP64) size = take();
        if (packed === IN_ZIP64) packed = take();
        if (header === IN_ZIP64) header = take();
      } else if (kind === Extra.UNICODE_PATH) {
        path = unicodePath(view, kind, start, end, pathSum) ?? path;
      } else takeTime(told, view, kind, start, end);
    });
    if (Number.isNaN(size + packed + header)) {
      this.#cut ??= memberError(
        "bad-structure",
        this.#source.name,
        path,
        "its zip64 field is truncated, or has a number larger than any file: the zip is " +
          "damaged. Download it again",
        { offset: this.#start + at },
      );
    } else this.#found++;
    header += this.#directory.before;
    if (header < this.#lowest) this.#lowest = header; // never NaN
    const member: Member = {
      path,
      pathLength: pathEnd - pathStart,
      pathSum,
      flags,
      method,
      crc32: view.getUint32(at + 16, true),
      packed,
      size,
      header,
      time: told.time,
    };
    const kind = isUnix ? view.getUint16(at + 40, true) & KIND_BITS : 0;
    const isDirectory = kind === DIRECTORY ||
      kind === 0 && (isUnix || DOS.has(system)) &&
        (view.getUint8(at + 38) & DOS_DIRECTORY) !== 0;
    if (kind === LINK && this.#builder.isReadable(member)) this.#link = member;
    // A member with content is a file, whatever its attributes say, so that nothing of it is lost.
    else if (path.at(-1) === SLASH || isDirectory && size === 0) {
      this.#builder.addDirectory(member);
    } else this.#builder.addFile(member); // also members written from a pipe or terminal
  }

  *#takeLink(member: Member): Steps<void> {
    this.#link = undefined;
    const target = yield* readLinkTarget(this.#source, member);
    if (target === undefined) this.#builder.addFile(member, Fault.LINK);
    else this.#builder.addLink(member, target);
  }

  #damage(offset: number, why: string): FormatError {
    const { name: path } = this.#source;
    return new FormatError(
      "bad-structure",
      `Cannot read ${path}: the central directory ${why}: it is damaged. ` +
        "Download the zip again",
      { path, offset },
    );
  }
}

/** Bits of a DOS time below the hour. */
const HOUR_BITS = 11;

let lastHour = -1;
let lastMilliseconds = 0;

/**
 * Converts a DOS date and time, which has no time zone, as local time.
 *
 * @returns Milliseconds since 1970, or NaN if the date is invalid.
 */
function dosTime(date: number, time: number): number {
  const hour = date << 5 | time >>> HOUR_BITS;
  if (hour !== lastHour) {
    const [year, month, day] = [1980 + (date >> 9), date >> 5 & 15, date & 31];
    const isDate = month >= 1 && month <= 12 && day >= 1;
    lastMilliseconds = isDate
      ? new Date(year, month - 1, day, time >>> HOUR_BITS).getTime()
      : NaN;
    lastHour = hour;
  }
  return lastMilliseconds + (time >> 5 & 63) * 60_000 + (time & 31) * 2000;
}
