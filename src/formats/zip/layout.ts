/**
 * How a zip lies in a file (PKWARE's APPNOTE.TXT, 6.3.10): members, each behind a header of its own; the central
 * directory, which has a header for each again; and a record of where that is, at the end.
 *
 * @module
 */
import type { Steps } from "../../io/concurrency/steps.ts";

/** What records begin with, as little-endian numbers: `PK` and two bytes. */
export const Signature = {
  LOCAL: 0x04034b50,
  CENTRAL: 0x02014b50,
  END: 0x06054b50,
  END64: 0x06064b50,
  LOCATOR64: 0x07064b50,
  DESCRIPTOR: 0x08074b50,
} as const;

/** Bytes of records, without what follows them by their lengths. */
export const Size = {
  LOCAL: 30,
  CENTRAL: 46,
  END: 22,
  END64: 56,
  LOCATOR64: 20,
} as const;

/** Bits of flags. */
export const Flag = {
  ENCRYPTED: 1 << 0,
  /** Sizes and CRC-32 stand behind the content, and not in the header before it. */
  DESCRIPTOR: 1 << 3,
  PATCH: 1 << 5,
  STRONG_ENCRYPTION: 1 << 6,
  UTF8: 1 << 11,
  /** Headers are encrypted, and hide what they say. */
  MASKED: 1 << 13,
} as const;

/** How contents are written. */
export const Method = { STORED: 0, DEFLATED: 8, ZSTD: 93 } as const;

/** Those that are not read, for messages. */
const OTHER_METHODS: Readonly<Record<number, string>> = {
  1: "shrunk",
  6: "imploded",
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  20: "zstd (as 20, which was withdrawn)",
  95: "XZ",
  96: "JPEG",
  97: "WavPack",
  98: "PPMd",
  99: "AES encryption",
};

/** What a method that is not read is called. */
export function methodName(method: number): string {
  return OTHER_METHODS[method] ?? `method ${method}`;
}

/** Extra fields. */
export const Extra = {
  ZIP64: 0x0001,
  /** Times of NTFS, as 7-Zip writes them. */
  NTFS: 0x000a,
  /** Times of Unix, as PKWARE writes them. */
  PKWARE_UNIX: 0x000d,
  /** Times of Unix, as Info-ZIP writes them. */
  TIMES: 0x5455,
  /** Times of Unix, as Info-ZIP wrote them before, and macOS does. */
  INFOZIP_UNIX: 0x5855,
  /** The path in UTF-8, beside one that is not. */
  UNICODE_PATH: 0x7075,
} as const;

/** In a field of 16 or 32 bits: the number stands in a record of zip64. */
export const IN_ZIP64_16 = 0xffff;
export const IN_ZIP64 = 0xffff_ffff;

/** A number of 64 bits; NaN where it is larger than any that is exact. */
export function uint64(view: DataView, at: number): number {
  const number = view.getUint32(at, true) +
    view.getUint32(at + 4, true) * 2 ** 32;
  return Number.isSafeInteger(number) ? number : NaN;
}

/** Calls back with each extra field: its kind, and where it starts and ends. Fields that are cut end the list. */
export function forEachExtra(
  view: DataView,
  start: number,
  end: number,
  visit: (kind: number, start: number, end: number) => void,
): void {
  for (let at = start; at + 4 <= end;) {
    const kind = view.getUint16(at, true);
    const past = at + 4 + view.getUint16(at + 2, true);
    if (past > end) return;
    visit(kind, at + 4, past);
    at = past;
  }
}

/** A deflated content has at most so many times the bytes that it takes (258 in 2 bits), and a few. */
const DEFLATE_RATIO = 1032;

/** The most bytes that a deflated content of so many bytes can have. */
export function mostInflated(packed: number): number {
  return packed * DEFLATE_RATIO;
}

/** What is read of a file to find a zip's end: its record, a comment of any length, and the records of zip64. */
export const TAIL = Size.END + 0xffff + Size.END64 + Size.LOCATOR64;

/** The end of a file. */
export interface Tail {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Where it starts in the file. */
  readonly start: number;
}

/** Reads the end of a file, as far as a zip's records may stand there. */
export function* readTail(
  size: number,
  read: (offset: number, length: number) => Steps<Uint8Array>,
): Steps<Tail> {
  const length = Math.min(size, TAIL);
  const bytes = yield* read(size - length, length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes, view, start: size - length };
}

/**
 * The place in the tail of the record of the end; `undefined` where there is none. It is the last one, whatever stands
 * before it or in its comment: unzip, Python's zipfile, bsdtar and 7-Zip all begin with that. It may be cut.
 */
export function lastEndOf({ bytes, view }: Tail): number | undefined {
  for (let at = bytes.length - 4; at >= 0; at--) {
    if (isEndAt(bytes, view, at)) return at;
  }
  return undefined;
}

/** The places in the tail, before this one, where other records of an end may be. */
export function earlierEnds({ bytes, view }: Tail, before: number): number[] {
  const places: number[] = [];
  for (let at = 0; at < before; at++) {
    if (isEndAt(bytes, view, at)) places.push(at);
  }
  return places;
}

function isEndAt(bytes: Uint8Array, view: DataView, at: number): boolean {
  return bytes[at] === 0x50 && view.getUint32(at, true) === Signature.END;
}

/** Bytes of the name and the extra fields that follow a local header, as it says. */
export function variableSize(header: Uint8Array): number {
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  return view.getUint16(26, true) + view.getUint16(28, true);
}
