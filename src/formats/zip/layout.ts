/**
 * Layout of zip files (PKWARE's APPNOTE.TXT, 6.3.10): members, each after its local header; the central directory, with
 * another header for each; and the end record, which locates the directory.
 *
 * @module
 */
import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";

/** Signatures of records, as little-endian numbers: `PK` and two bytes. */
export const Signature = {
  LOCAL: 0x04034b50,
  CENTRAL: 0x02014b50,
  END: 0x06054b50,
  END64: 0x06064b50,
  LOCATOR64: 0x07064b50,
  DESCRIPTOR: 0x08074b50,
} as const;

/** Sizes of records in bytes, without variable-length fields. */
export const Size = {
  LOCAL: 30,
  CENTRAL: 46,
  END: 22,
  END64: 56,
  LOCATOR64: 20,
} as const;

/** Flag bits. */
export const Flag = {
  ENCRYPTED: 1 << 0,
  /** Sizes and CRC-32 follow the content, instead of being in the local header. */
  DESCRIPTOR: 1 << 3,
  PATCH: 1 << 5,
  STRONG_ENCRYPTION: 1 << 6,
  UTF8: 1 << 11,
  /** Headers are encrypted and hide their values. */
  MASKED: 1 << 13,
} as const;

/** Supported compression methods. */
export const Method = { STORED: 0, DEFLATED: 8, ZSTD: 93 } as const;

/** Unsupported methods, for messages. */
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

export function methodName(method: number): string {
  return OTHER_METHODS[method] ?? `method ${method}`;
}

/** Kinds of extra fields. */
export const Extra = {
  ZIP64: 0x0001,
  /** NTFS times, as 7-Zip writes them. */
  NTFS: 0x000a,
  /** Unix times, as PKWARE writes them. */
  PKWARE_UNIX: 0x000d,
  /** Unix times, as Info-ZIP writes them. */
  TIMES: 0x5455,
  /** Unix times, as older Info-ZIP and macOS write them. */
  INFOZIP_UNIX: 0x5855,
  /** The path in UTF-8, in addition to one in another encoding. */
  UNICODE_PATH: 0x7075,
} as const;

/** Markers of 16-bit and 32-bit fields whose value is in a zip64 record. */
export const IN_ZIP64_16 = 0xffff;
export const IN_ZIP64 = 0xffff_ffff;

/** Reads a 64-bit number; NaN if it is too large to be exact. */
export function uint64(view: DataView, at: number): number {
  const number = view.getUint32(at, true) +
    view.getUint32(at + 4, true) * 2 ** 32;
  return Number.isSafeInteger(number) ? number : NaN;
}

/** Calls `visit` with the kind, start and end of each extra field. A truncated field ends the list. */
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

/** Maximum expansion of Deflate: 258 bytes in 2 bits. */
const DEFLATE_RATIO = 1032;

/** Returns the maximum size of a deflated content, in bytes. */
export function mostInflated(packed: number): number {
  return packed * DEFLATE_RATIO;
}

/** Bytes read at the end of a file: the end record, the longest comment, and the zip64 records. */
export const TAIL = Size.END + 0xffff + Size.END64 + Size.LOCATOR64;

export interface Tail {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Offset in the file. */
  readonly start: number;
}

/** Reads the end of a file, as far as end records may extend. */
export function* readTail(
  size: number,
  read: (offset: number, length: number) => Steps<Uint8Array>,
): Steps<Tail> {
  const length = Math.min(size, TAIL);
  const bytes = yield* read(size - length, length);
  const view = viewOf(bytes);
  return { bytes, view, start: size - length };
}

/**
 * Returns the position in the tail of the last end record, which may be truncated, or `undefined`. unzip, Python's
 * zipfile, bsdtar and 7-Zip all begin with the last one, whatever stands before it or in its comment.
 */
export function lastEndOf({ bytes, view }: Tail): number | undefined {
  for (let at = bytes.length - 4; at >= 0; at--) {
    if (isEndAt(bytes, view, at)) return at;
  }
  return undefined;
}

/** Returns the positions in the tail, before `before`, of possible other end records. */
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

/** Returns the bytes of the name and the extra fields after a local header. */
export function variableSize(header: Uint8Array): number {
  const view = viewOf(header);
  return view.getUint16(26, true) + view.getUint16(28, true);
}
