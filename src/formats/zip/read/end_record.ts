import { FormatError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  endsOf,
  IN_ZIP64,
  IN_ZIP64_16,
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
}

/**
 * Finds the central directory of a zip.
 *
 * @throws {FormatError} If there is none, or it can't be where the end says.
 */
export function* findDirectory(source: ByteSource): Steps<Directory> {
  const { name: path, size } = source;
  const tail = yield* readTail(
    size,
    (offset, length) => readPart(source, offset, length),
  );
  let fault: FormatError | undefined;
  for (const at of endsOf(tail)) {
    try {
      return yield* directoryOf(source, tail, at);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      fault ??= error;
    }
  }
  throw fault ?? new FormatError(
    "truncated",
    `${path} has no record of the end of a zip in its last ${tail.bytes.length} bytes: it was cut, or is no zip; ` +
      "fetch it again",
    { path, offset: size },
  );
}

function* directoryOf(
  source: ByteSource,
  tail: Tail,
  at: number,
): Steps<Directory> {
  const { name: path } = source;
  const { view } = tail;
  const end = tail.start + at;
  const locator = at - Size.LOCATOR64;
  const is64 = locator >= 0 &&
    view.getUint32(locator, true) === Signature.LOCATOR64;
  const told = is64 ? yield* read64(source, tail, locator) : undefined;
  const short = (field: number) => view.getUint16(at + field, true);
  const long = (field: number) => view.getUint32(at + field, true);
  const pick = (value: number, marked: number, wide: number | undefined) =>
    value === marked && wide !== undefined ? wide : value;
  const disk = pick(short(4), IN_ZIP64_16, told?.disk);
  const count = pick(short(10), IN_ZIP64_16, told?.count);
  const length = pick(long(12), IN_ZIP64, told?.length);
  const offset = pick(long(16), IN_ZIP64, told?.offset);
  if (disk !== 0) {
    throw new FormatError(
      "unsupported",
      `${path} is the last of ${
        disk + 1
      } parts of a zip: join them (zip -s 0), and open that`,
      { path, actual: disk + 1 },
    );
  }
  const past = told?.start ?? end;
  const start = past - length;
  const before = start - offset;
  if (!(start >= 0 && before >= 0)) {
    throw damaged(
      source,
      end,
      `has ${length} bytes of headers from byte ${offset} on by its end, which do not fit before that`,
    );
  }
  if (!(count * Size.CENTRAL <= length) || (count === 0) !== (length === 0)) {
    throw damaged(
      source,
      end,
      `has ${count} members by its end, and ${length} bytes of headers of them`,
    );
  }
  if (count > 0) {
    const at = start - tail.start;
    const bytes = at >= 0
      ? tail.bytes.subarray(at, at + 4)
      : yield* readPart(source, start, 4);
    const first = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (first.getUint32(0, true) !== Signature.CENTRAL) {
      throw damaged(
        source,
        start,
        "has no header of a member where its end says",
      );
    }
  }
  return { start, end: past, count, before };
}

/** Reads the record of zip64 that a locator leads to. */
function* read64(source: ByteSource, tail: Tail, locator: number) {
  const told = uint64(tail.view, locator + 8);
  const usual = tail.start + locator - Size.END64;
  // It stands right before the locator, unless it has data of somebody's own; what is before the zip moves it.
  for (const start of [usual, told]) {
    if (!(start >= 0 && start + Size.END64 <= tail.start + locator)) continue;
    const at = start - tail.start;
    const bytes = at >= 0
      ? tail.bytes.subarray(at, at + Size.END64)
      : yield* readPart(source, start, Size.END64);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (view.getUint32(0, true) !== Signature.END64) continue;
    return {
      start,
      disk: view.getUint32(16, true),
      count: uint64(view, 32),
      length: uint64(view, 40),
      offset: uint64(view, 48),
    };
  }
  throw damaged(
    source,
    tail.start + locator,
    `has no record of zip64 where its end says, at byte ${told}`,
  );
}

function damaged(
  { name: path }: ByteSource,
  offset: number,
  why: string,
): FormatError {
  return new FormatError(
    "bad-structure",
    `${path} ${why}: it is damaged, or its end lies; fetch it again`,
    { path, offset },
  );
}
