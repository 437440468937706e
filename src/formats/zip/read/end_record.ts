import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  earlierEnds,
  IN_ZIP64,
  IN_ZIP64_16,
  lastEndOf,
  readTail,
  Signature,
  Size,
  type Tail,
  uint64,
} from "../layout.ts";

/** Location of the central directory. */
export interface Directory {
  readonly start: number;
  readonly end: number;
  /** Number of headers. */
  readonly count: number;
  /** Bytes before the zip, which its offsets do not count. */
  readonly before: number;
  /** Offsets of possible other end records before the directory; each must lie in a content. */
  readonly otherEnds: readonly number[];
}

/** Fields of an end record, of either kind. */
interface End {
  readonly disk: number;
  /** Disk on which the directory starts. */
  readonly directoryDisk: number;
  /** Number of members on this disk, and on all. */
  readonly countHere: number;
  readonly count: number;
  /** Bytes of the directory. */
  readonly length: number;
  /** Offset of the directory. */
  readonly offset: number;
}

/** The zip64 end record. */
interface WideEnd extends End {
  /** Its offset, and its offset in the locator: they differ if bytes were put before the zip. */
  readonly start: number;
  readonly told: number;
}

/** Fields of both end records: names for messages, and the marker of a value that does not fit in the narrow one. */
const FIELDS: readonly [keyof End, string, number][] = [
  ["disk", "number of its disk", IN_ZIP64_16],
  ["directoryDisk", "disk of its directory", IN_ZIP64_16],
  ["countHere", "number of members on its disk", IN_ZIP64_16],
  ["count", "number of members", IN_ZIP64_16],
  ["length", "size of its directory", IN_ZIP64],
  ["offset", "offset of its directory", IN_ZIP64],
];

/**
 * Finds the central directory of a zip. Accepts only end records that all programs read alike. Throws FormatError if
 * there is none, it cannot be where the end record says, or another program would find another.
 */
export function* findDirectory(source: ByteSource): Steps<Directory> {
  const tail = yield* readTail(
    source.size,
    (offset, length) => readPart(source, offset, length),
  );
  return yield* new EndReader(source, tail).find();
}

class EndReader {
  readonly #source: ByteSource;
  readonly #tail: Tail;

  constructor(source: ByteSource, tail: Tail) {
    this.#source = source;
    this.#tail = tail;
  }

  *find(): Steps<Directory> {
    const { bytes, start } = this.#tail;
    const at = lastEndOf(this.#tail);
    if (at === undefined) {
      throw this.#truncated(
        this.#source.size,
        `it has no end record in its last ${bytes.length} bytes: it is ` +
          "truncated, or not a zip",
      );
    }
    if (at + Size.END > bytes.length) {
      throw this.#truncated(start + at, "its end record is truncated");
    }
    const others = earlierEnds(this.#tail, at);
    this.#requireComment(at, others);
    const end = yield* this.#readEnd(at);
    const directory = this.#directoryOf(start + at, end);
    yield* this.#requireHeader(directory, end.offset);
    const otherEnds = others.map((at) => start + at)
      .filter((place) => place < directory.start);
    return { ...directory, otherEnds };
  }

  /** A truncated comment, or bytes after it, may hide which record is the end (CVE-2024-24789). */
  #requireComment(at: number, others: readonly number[]): void {
    const { bytes, view, start } = this.#tail;
    const endOf = (record: number) =>
      record + Size.END + view.getUint16(record + 20, true);
    const there = bytes.length - at - Size.END;
    if (endOf(at) > bytes.length) {
      throw this.#truncated(
        start + at + Size.END,
        `it is truncated: it has only ${there} of the ` +
          `${view.getUint16(at + 20, true)} bytes of its comment`,
      );
    }
    const isLast = endOf(at) === bytes.length;
    if (!isLast && others.some((other) => endOf(other) === bytes.length)) {
      throw twoEnds(this.#source, start + at);
    }
  }

  /** Reads the end record, with the values of the zip64 one if there is one. */
  *#readEnd(at: number): Steps<End & { readonly wide?: WideEnd }> {
    const { view } = this.#tail;
    const end: End = {
      disk: view.getUint16(at + 4, true),
      directoryDisk: view.getUint16(at + 6, true),
      countHere: view.getUint16(at + 8, true),
      count: view.getUint16(at + 10, true),
      length: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true),
    };
    const locator = at - Size.LOCATOR64;
    const is64 = locator >= 0 &&
      view.getUint32(locator, true) === Signature.LOCATOR64;
    if (!is64) return end;
    const wide = yield* this.#readWide(locator);
    for (const [field, what, marked] of FIELDS) {
      const [narrow, other] = [end[field], wide[field]];
      if (Number.isNaN(other)) {
        throw this.#refused(
          wide.start,
          `the ${what} in its zip64 end record is larger than any file`,
        );
      }
      if (narrow !== marked && narrow !== other) {
        throw this.#ambiguous(
          wide.start,
          `the ${what} is ${narrow} in its end record, but ${other} in its zip64 end record`,
        );
      }
    }
    return { ...wide, wide };
  }

  /** Reads the zip64 end record of a locator. */
  *#readWide(locator: number): Steps<WideEnd> {
    const { view, start } = this.#tail;
    const place = start + locator;
    const told = uint64(view, locator + 8);
    const disks = view.getUint32(locator + 16, true);
    const disk = view.getUint32(locator + 4, true);
    if (disk > 0 || disks > 1) throw this.#inParts(Math.max(disks, disk + 1));
    if (Number.isNaN(told)) {
      throw this.#refused(
        place,
        "the offset of its zip64 end record is larger than any file",
      );
    }
    // It directly precedes the locator, unless it has extensible data or the zip was moved.
    const usual = place - Size.END64;
    const found: WideEnd[] = [];
    for (const start of new Set([usual, told])) {
      if (!(start >= 0 && start <= usual)) continue;
      const view = yield* this.#viewAt(start, Size.END64);
      if (view.getUint32(0, true) !== Signature.END64) continue;
      found.push({
        start,
        told,
        disk: view.getUint32(16, true),
        directoryDisk: view.getUint32(20, true),
        countHere: uint64(view, 24),
        count: uint64(view, 32),
        length: uint64(view, 40),
        offset: uint64(view, 48),
      });
      if (start + 12 + uint64(view, 4) !== place) {
        throw this.#ambiguous(
          start,
          "its zip64 end record does not end where its locator begins",
        );
      }
    }
    if (found.length > 1) {
      throw this.#ambiguous(told, "it has two zip64 end records");
    }
    const [wide] = found;
    if (wide !== undefined) return wide;
    throw this.#refused(
      place,
      `it has no zip64 end record where its locator says, at byte ${told}`,
    );
  }

  #directoryOf(
    place: number,
    end: End & { readonly wide?: WideEnd },
  ): Omit<Directory, "otherEnds"> {
    const { disk, directoryDisk, countHere, count, length, offset, wide } = end;
    if (disk !== 0 || directoryDisk !== 0) {
      throw this.#inParts(Math.max(disk, directoryDisk) + 1);
    }
    if (countHere !== count) {
      throw this.#refused(
        place,
        `its end record counts ${countHere} members on its disk, but ${count} in all`,
      );
    }
    const past = wide?.start ?? place;
    const start = past - length;
    const before = start - offset;
    if (!(start >= 0 && before >= 0)) {
      throw this.#refused(
        place,
        `its end record gives ${length} bytes of headers from byte ${offset} on, which do not fit before it`,
      );
    }
    if (!(count * Size.CENTRAL <= length) || (count === 0) !== (length === 0)) {
      throw this.#refused(
        place,
        `its end record counts ${count} members, with ${length} bytes of headers`,
      );
    }
    if (count === 0 && start > 0) {
      throw this.#ambiguous(
        place,
        `its end record counts no members, but ${start} bytes precede it`,
      );
    }
    if (wide !== undefined && wide.start - before !== wide.told) {
      throw this.#ambiguous(
        place,
        `its zip64 end record is ${
          wide.start - before
        } bytes after its start, but ${wide.told} according to the locator`,
      );
    }
    return { start, end: past, count, before };
  }

  /** The directory ends at the end record. Programs that use its offset instead must not find another one there. */
  *#requireHeader(
    { start, count, before }: Omit<Directory, "otherEnds">,
    offset: number,
  ): Steps<void> {
    if (count === 0) return;
    if (!(yield* this.#isHeader(start))) {
      throw this.#refused(
        start,
        "it has no header of a member where its end record says",
      );
    }
    if (before > 0 && (yield* this.#isHeader(offset))) {
      throw this.#ambiguous(
        offset,
        `it has headers of members both at byte ${offset}, where its end record says, and right before its end record`,
      );
    }
  }

  *#isHeader(start: number): Steps<boolean> {
    const view = yield* this.#viewAt(start, 4);
    return view.getUint32(0, true) === Signature.CENTRAL;
  }

  *#viewAt(start: number, length: number): Steps<DataView> {
    const at = start - this.#tail.start;
    const { buffer, byteOffset } = at >= 0
      ? this.#tail.bytes.subarray(at, at + length)
      : yield* readPart(this.#source, start, length);
    return new DataView(buffer, byteOffset, length);
  }

  /** Makes the error for the last part of a split zip. */
  #inParts(parts: number): FormatError {
    const { name: path } = this.#source;
    return new FormatError(
      "unsupported",
      `Cannot read ${path}: it is the last of ${parts} parts of a zip. Join them (zip -s 0), and open that`,
      { path, actual: parts },
    );
  }

  #ambiguous(offset: number, why: string): FormatError {
    return ambiguous(this.#source, offset, why);
  }

  #truncated(offset: number, why: string): FormatError {
    return this.#refused(offset, why, "truncated");
  }

  #refused(
    offset: number,
    why: string,
    code: FormatError["code"] = "bad-structure",
  ): FormatError {
    const { name: path } = this.#source;
    const message = `Cannot read ${path}: ${why}. Download it again`;
    return new FormatError(code, message, { path, offset });
  }
}

/** Markers before the first member of a zip that was once split: "PK00", or the signature of a descriptor. */
const SPAN_MARKERS: readonly number[] = [0x30304b50, Signature.DESCRIPTOR];

/**
 * Rejects a file that begins as a zip, but not with a listed member: programs that read from the start find others.
 * `first` is the lowest offset of a listed member's local header.
 */
export function* requireNoOtherStart(
  source: ByteSource,
  first: number,
): Steps<void> {
  if (first === 0 || !(first < source.size)) return;
  const { buffer } = yield* readPart(source, 0, 8);
  const view = new DataView(buffer);
  const at = SPAN_MARKERS.includes(view.getUint32(0, true)) ? 4 : 0;
  const signature = view.getUint32(at, true);
  if (at === first) return;
  if (signature !== Signature.LOCAL && signature !== Signature.END) return;
  throw ambiguous(
    source,
    at,
    `it begins as a zip at byte ${at}, where its directory has no member`,
  );
}

/** Makes the error for a second end record, which may have a directory of its own. */
export function twoEnds(source: ByteSource, offset: number): FormatError {
  return ambiguous(source, offset, "it has two end records");
}

/** Makes the error for a zip in which another program may find other files: none of them is the right one. */
function ambiguous(
  source: ByteSource,
  offset: number,
  why: string,
): FormatError {
  return new FormatError(
    "bad-structure",
    `Cannot read ${source.name}: ${why}, so programs would find different files ` +
      "in it. Download it again, or pack it again",
    { path: source.name, offset },
  );
}
