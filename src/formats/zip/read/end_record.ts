import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
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

/** Where the central directory is. */
export interface Directory {
  /** Its first byte in the file. */
  readonly start: number;
  readonly end: number;
  /** Number of its headers. */
  readonly count: number;
  /** Bytes before the zip, which its offsets do not count. */
  readonly before: number;
  /** Where other records of an end may be before the directory: each has to lie in a content. */
  readonly otherEnds: readonly number[];
}

/** What a record of the end says, of either kind. */
interface End {
  readonly disk: number;
  /** The disk that the directory starts on. */
  readonly directoryDisk: number;
  /** Number of members on this disk, and on all. */
  readonly countHere: number;
  readonly count: number;
  /** Bytes of the directory. */
  readonly length: number;
  /** Where the directory starts. */
  readonly offset: number;
}

/** The record of zip64. */
interface WideEnd extends End {
  /** Where it is, and where its locator says that it is: what stands before the zip moves it. */
  readonly start: number;
  readonly told: number;
}

/** The fields that both ends have: what each is called, and how the narrow one says that it has no room. */
const FIELDS: readonly [keyof End, string, number][] = [
  ["disk", "number of its disk", IN_ZIP64_16],
  ["directoryDisk", "disk of its directory", IN_ZIP64_16],
  ["countHere", "number of members on its disk", IN_ZIP64_16],
  ["count", "number of members", IN_ZIP64_16],
  ["length", "size of its directory", IN_ZIP64],
  ["offset", "place of its directory", IN_ZIP64],
];

/**
 * Finds the central directory of a zip. Only an end that all programs read alike is believed.
 *
 * @throws {FormatError} If there is none, it can't be where the end says, or another program would find another one.
 */
export function* findDirectory(source: ByteSource): Steps<Directory> {
  const { size } = source;
  const tail = yield* readTail(
    size,
    (offset, length) => readPart(source, offset, length),
  );
  const at = lastEndOf(tail);
  if (at === undefined) {
    throw refused(
      source,
      size,
      `it has no record of the end of a zip in its last ${tail.bytes.length} bytes: it is truncated, or is no zip`,
      "truncated",
    );
  }
  if (at + Size.END > tail.bytes.length) {
    throw refused(
      source,
      tail.start + at,
      "the record of its end is truncated",
      "truncated",
    );
  }
  const others = earlierEnds(tail, at);
  requireComment(source, tail, at, others);
  const end = yield* readEnd(source, tail, at);
  const directory = directoryOf(source, tail.start + at, end);
  yield* requireHeader(source, tail, directory, end.offset);
  const otherEnds = others.map((at) => tail.start + at)
    .filter((place) => place < directory.start);
  return { ...directory, otherEnds };
}

/** A cut comment, or bytes behind it, may hide which record is the end (CVE-2024-24789). */
function requireComment(
  source: ByteSource,
  tail: Tail,
  at: number,
  others: readonly number[],
): void {
  const start = at + Size.END;
  const length = tail.view.getUint16(at + 20, true);
  const there = tail.bytes.length - start;
  if (length > there) {
    throw refused(
      source,
      tail.start + start,
      `${there} of the ${length} bytes of its comment are there: it is truncated`,
      "truncated",
    );
  }
  const toTheEnd = (other: number) =>
    other + Size.END + tail.view.getUint16(other + 20, true) ===
      tail.bytes.length;
  if (length < there && others.some(toTheEnd)) {
    throw twoEnds(source, tail.start + at);
  }
}

/** Reads the end, with what the record of zip64 says where there is one. */
function* readEnd(
  source: ByteSource,
  tail: Tail,
  at: number,
): Steps<End & { readonly wide?: WideEnd }> {
  const { view } = tail;
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
  const wide = yield* readWide(source, tail, locator);
  for (const [field, what, marked] of FIELDS) {
    const [narrow, other] = [end[field], wide[field]];
    if (Number.isNaN(other)) {
      throw refused(
        source,
        wide.start,
        `the ${what} in its end of zip64 is larger than any file`,
      );
    }
    if (narrow !== marked && narrow !== other) {
      throw ambiguous(
        source,
        wide.start,
        `the ${what} is ${narrow} by its end, and ${other} by its end of zip64`,
      );
    }
  }
  return { ...wide, wide };
}

/** Reads the record of zip64 that a locator leads to. */
function* readWide(
  source: ByteSource,
  tail: Tail,
  locator: number,
): Steps<WideEnd> {
  const place = tail.start + locator;
  const told = uint64(tail.view, locator + 8);
  const disks = tail.view.getUint32(locator + 16, true);
  const disk = tail.view.getUint32(locator + 4, true);
  if (disk > 0 || disks > 1) throw inParts(source, Math.max(disks, disk + 1));
  if (Number.isNaN(told)) {
    throw refused(
      source,
      place,
      "the place of its end of zip64 is larger than any file",
    );
  }
  // It stands right before the locator, unless it has data of somebody's own, or the zip was moved.
  const usual = place - Size.END64;
  const found: WideEnd[] = [];
  for (const start of new Set([usual, told])) {
    if (!(start >= 0 && start <= usual)) continue;
    const view = yield* viewAt(source, tail, start, Size.END64);
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
      throw ambiguous(
        source,
        start,
        "its end of zip64 does not end where its locator begins",
      );
    }
  }
  if (found.length > 1) {
    throw ambiguous(source, told, "it has two ends of zip64");
  }
  const [wide] = found;
  if (wide !== undefined) return wide;
  throw refused(
    source,
    place,
    `it has no end of zip64 where its locator says, at byte ${told}`,
  );
}

function directoryOf(
  source: ByteSource,
  place: number,
  end: End & { readonly wide?: WideEnd },
): Omit<Directory, "otherEnds"> {
  const { disk, directoryDisk, countHere, count, length, offset, wide } = end;
  if (disk !== 0 || directoryDisk !== 0) {
    throw inParts(source, Math.max(disk, directoryDisk) + 1);
  }
  if (countHere !== count) {
    throw refused(
      source,
      place,
      `it has ${countHere} members on its disk by its end, and ${count} in all`,
    );
  }
  const past = wide?.start ?? place;
  const start = past - length;
  const before = start - offset;
  if (!(start >= 0 && before >= 0)) {
    throw refused(
      source,
      place,
      `it has ${length} bytes of headers from byte ${offset} on by its end, which do not fit before that`,
    );
  }
  if (!(count * Size.CENTRAL <= length) || (count === 0) !== (length === 0)) {
    throw refused(
      source,
      place,
      `it has ${count} members by its end, and ${length} bytes of headers of them`,
    );
  }
  if (count === 0 && start > 0) {
    throw ambiguous(
      source,
      place,
      `it is empty by its end, and ${start} bytes stand before that`,
    );
  }
  if (wide !== undefined && wide.start - before !== wide.told) {
    throw ambiguous(
      source,
      place,
      `its end of zip64 is ${
        wide.start - before
      } bytes behind its start, and ${wide.told} by the locator`,
    );
  }
  return { start, end: past, count, before };
}

/** The directory stands before the end. Programs that go by its offset instead must not find another one there. */
function* requireHeader(
  source: ByteSource,
  tail: Tail,
  { start, count, before }: Omit<Directory, "otherEnds">,
  offset: number,
): Steps<void> {
  if (count === 0) return;
  if (!(yield* isHeader(source, tail, start))) {
    throw refused(
      source,
      start,
      "it has no header of a member where its end says",
    );
  }
  if (before > 0 && (yield* isHeader(source, tail, offset))) {
    throw ambiguous(
      source,
      offset,
      `it has headers of members both at byte ${offset}, where its end says, and right before its end`,
    );
  }
}

function* isHeader(source: ByteSource, tail: Tail, start: number) {
  const view = yield* viewAt(source, tail, start, 4);
  return view.getUint32(0, true) === Signature.CENTRAL;
}

function* viewAt(
  source: ByteSource,
  tail: Tail,
  start: number,
  length: number,
): Steps<DataView> {
  const at = start - tail.start;
  const { buffer, byteOffset } = at >= 0
    ? tail.bytes.subarray(at, at + length)
    : yield* readPart(source, start, length);
  return new DataView(buffer, byteOffset, length);
}

/** What stands before the first member of a zip that was once in parts: "PK00", or the signature of a descriptor. */
const SPAN_MARKERS: readonly number[] = [0x30304b50, Signature.DESCRIPTOR];

/**
 * Refuses a file that begins as a zip, but not with a member of the directory: programs that read from its start find
 * others.
 *
 * @param first Where the first header of a listed member is.
 * @throws {FormatError}
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

/** Says that a zip has a second end, with a directory of its own maybe. */
export function twoEnds(source: ByteSource, offset: number): FormatError {
  return ambiguous(source, offset, "it has two records of its end");
}

/** Says that a zip is one of several parts, of which the last has the end. */
function inParts(source: ByteSource, parts: number): FormatError {
  const { name: path } = source;
  return new FormatError(
    "unsupported",
    `Cannot read ${path}: it is the last of ${parts} parts of a zip. Join them (zip -s 0), and open that`,
    { path, actual: parts },
  );
}

/** Says that a zip is one in which another program may find other files: none of them is the right one. */
function ambiguous(
  source: ByteSource,
  offset: number,
  why: string,
): FormatError {
  return new FormatError(
    "bad-structure",
    `Cannot read ${source.name}: ${why}, so that programs would find different files in it. ` +
      "Get it from its source again, or pack it again",
    { path: source.name, offset },
  );
}

function refused(
  source: ByteSource,
  offset: number,
  why: string,
  code: FormatErrorCode = "bad-structure",
): FormatError {
  return new FormatError(
    code,
    `Cannot read ${source.name}: ${why}. Download it again`,
    { path: source.name, offset },
  );
}
