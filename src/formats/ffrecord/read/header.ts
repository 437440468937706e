import { FormatError } from "../../../errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { fill, readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { BYTES_PER_SAMPLE, FIXED_HEADER, parseCount } from "../layout.ts";

/** The tables are read in pieces, so that the checksum is taken while a piece is in the cache. */
const PIECE = 1 << 20;

/** The header of one `.ffr` file. */
export interface RecordFileHeader {
  /** Number of samples. */
  readonly count: number;
  /**
   * Both tables as they are in the file, over shared memory: `count` checksums, then `count`
   * offsets of two words each, the low one first.
   */
  readonly table: Uint32Array;
  /** The metadata checksum, 0 in a file of an old version. */
  readonly checksum: number;
}

/** What stands before the tables. */
export interface FixedHeader {
  /** Number of samples; the file is large enough for their tables. */
  readonly count: number;
  /** The metadata checksum, 0 in a file of an old version. */
  readonly checksum: number;
  /** The bytes that the metadata checksum covers, to which the tables are to be added. */
  readonly covered: Uint8Array;
}

/**
 * Reads and checks the header of an `.ffr` file.
 *
 * @param checkMetadata Whether to compare the metadata checksum, where the file has one.
 * @throws {FormatError} If the header is cut short, its count can't be, its checksum is wrong, or
 * the file's writer was killed before it closed the file.
 */
export function* readHeader(
  source: ByteSource,
  checkMetadata = true,
): Steps<RecordFileHeader> {
  const fixed = yield* readFixedHeader(source);
  const { count, checksum } = fixed;
  const bytes = newTable(count);
  let crc = crc32Of(fixed.covered);
  for (let done = 0; done < bytes.length; done += PIECE) {
    const piece = bytes.subarray(done, done + PIECE);
    yield* fill(source, piece, FIXED_HEADER + done);
    crc = crc32Of(piece, crc);
  }
  if (checkMetadata) compareChecksum(source.name, checksum, crc);
  return { count, table: new Uint32Array(bytes.buffer), checksum };
}

/** Shared memory for the tables of `count` samples; what is not written to takes none. */
export function newTable(count: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(count * BYTES_PER_SAMPLE));
}

/**
 * Compares the metadata's checksum with the one that was recorded, if any was.
 *
 * @throws {FormatError} If they differ.
 */
export function compareChecksum(
  path: string,
  recorded: number,
  computed: number,
): void {
  if (recorded === 0 || recorded === computed) return;
  throw new FormatError(
    "metadata-checksum",
    `${path}: checksum mismatch in metadata: recorded ${hex(recorded)}, ` +
      `computed ${hex(computed)}; the file is damaged: fetch it again`,
    { path, offset: 0, expected: recorded, actual: computed },
  );
}

/**
 * Reads what stands before the tables.
 *
 * @throws {FormatError} If it is cut short, its count can't be, or the file's writer was killed
 * before it closed the file.
 */
export function* readFixedHeader(source: ByteSource): Steps<FixedHeader> {
  const path = source.name;
  if (source.size < FIXED_HEADER) {
    throw new FormatError(
      "truncated-header",
      `${path}: header cut short: an FFRecord file has at least ` +
        `${FIXED_HEADER} bytes, this one ${source.size}; fetch or write it again`,
      { path, expected: FIXED_HEADER, actual: source.size },
    );
  }
  const fixed = yield* readPart(source, 0, FIXED_HEADER);
  const view = new DataView(fixed.buffer);
  const checksum = view.getUint32(0, true);
  const count = parseCount(view);
  const room = Math.floor((source.size - FIXED_HEADER) / BYTES_PER_SAMPLE);
  // A wrong count and a cut table look alike where the checksum is not known yet.
  if (count < 0 || count > room) {
    throw refuseCount(path, view.getBigInt64(4, true), source.size, checksum);
  }
  if (count === 0 && checksum === 0 && source.size > FIXED_HEADER) {
    throw new FormatError(
      "unfinished",
      `${path}: an unfinished file: N is 0 and the checksum is 0 though ` +
        `${source.size - FIXED_HEADER} more bytes follow; its writer was ` +
        `stopped before it closed the file: write it again`,
      { path, offset: 0 },
    );
  }
  return { count, checksum, covered: fixed.subarray(4) };
}

function refuseCount(
  path: string,
  count: bigint,
  size: number,
  checksum: number,
): FormatError {
  const facts = { path, offset: 4, actual: count };
  const needed = BigInt(FIXED_HEADER) + BigInt(BYTES_PER_SAMPLE) * count;
  const words = `N does not fit in the file: it is ${count}, which takes a ` +
    `header of ${needed} bytes, and the file has ${size}`;
  // With a recorded checksum, N is part of what it covers and the file was cut or N was damaged.
  if (checksum !== 0 && count >= 0n && needed < 2n ** 40n) {
    return new FormatError(
      "truncated-header",
      `${path}: header cut short: ${words}; fetch it again`,
      facts,
    );
  }
  return new FormatError(
    "absurd-count",
    `${path}: ${words}; it is damaged or no FFRecord file`,
    facts,
  );
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, "0")}`;
}
