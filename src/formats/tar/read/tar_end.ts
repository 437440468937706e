import { FormatError } from "../../../base/errors.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { TAR_BLOCK } from "../../../base/tar_header.ts";
import type { ScannedEnd } from "./scan.ts";

/** Bytes of the zero blocks that end a tar (POSIX.1). */
const END = 2 * TAR_BLOCK;
const PIECE = 1 << 18;
/** Bytes checked on opening: after the end of a local and of a remote tar, and at the end of the file. */
const NEAR_LOOK = 64 << 20;
const FAR_LOOK = 1 << 20;
const LAST_LOOK = 1 << 16;

export interface OddEnd {
  /** Data after the end, which is not read. */
  readonly damage?: FormatError;
  /** Warning about a missing end marker, which may be harmless. */
  readonly warning?: string;
}

/** Checks the end of a tar and what follows it: all of it if `isWhole`, otherwise its start and end. */
export function* lookAtEnd(
  source: ByteSource,
  { offset, isMarked, lacksMember }: ScannedEnd,
  isWhole: boolean,
): Steps<OddEnd> {
  const { name: path, size } = source;
  const found = yield* firstByte(source, offset, isWhole);
  const damage = (code: FormatError["code"], why: string) => ({
    damage: new FormatError(code, `Cannot read ${path} to its end: ${why}`, {
      path,
      offset: found ?? offset,
    }),
  });
  if (lacksMember && (found === undefined || isMarked)) {
    return damage(
      "truncated-header",
      `an extended header has no member after it (at byte ${offset} of ` +
        `${size}): it is truncated. Download it again`,
    );
  }
  if (found !== undefined) {
    if (!isMarked) {
      return damage(
        "truncated-header",
        `it is truncated inside a header of ${TAR_BLOCK} bytes (at byte ` +
          `${offset} of ${size}). Download it again`,
      );
    }
    const zeros = found < offset + END ? "the lone block" : "the blocks";
    return damage(
      "bad-structure",
      `it continues after ${zeros} of zeros at byte ${offset}, which ends it, ` +
        `and what follows from byte ${found} on is not shown. If that is ` +
        "another tar, extract both with tar --ignore-zeros, and pack that",
    );
  }
  if (offset + END <= size) return {};
  const end = isMarked
    ? "with one block of zeros instead of two"
    : "without the blocks of zeros that end a tar";
  return {
    warning: `${path} ends ${end}: if it was truncated between two members, ` +
      "the members after that are missing",
  };
}

/** Returns the offset of the first non-zero byte from an offset on. */
function* firstByte(
  source: ByteSource,
  offset: number,
  isWhole: boolean,
): Steps<number | undefined> {
  const { size } = source;
  const look = source.readAtSync === undefined ? FAR_LOOK : NEAR_LOOK;
  const past = isWhole ? size : Math.min(size, offset + look);
  const found = yield* firstByteIn(source, offset, past);
  if (found !== undefined || past === size) return found;
  return yield* firstByteIn(source, Math.max(past, size - LAST_LOOK), size);
}

function* firstByteIn(
  source: ByteSource,
  start: number,
  end: number,
): Steps<number | undefined> {
  const bytes = new Uint8Array(Math.min(PIECE, end - start));
  for (let at = start; at < end; at += PIECE) {
    const piece = bytes.subarray(0, Math.min(PIECE, end - at));
    yield* fill(source, piece, at);
    const first = piece.findIndex((byte) => byte !== 0);
    if (first >= 0) return at + first;
    yield* perform(yieldWhenDue);
  }
  return undefined;
}
