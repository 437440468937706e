import { FormatError } from "../../base/errors.ts";
import { newMemory } from "../libc/new_memory.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { mustWait } from "../storage/must_wait.ts";
import type { ChecksumOf } from "../checksums/checksum.ts";
import { shouldYield, yieldToEventLoop } from "../concurrency/event_loop.ts";
import { perform, type Steps } from "../concurrency/steps.ts";

/** Bytes read and checksummed at a time, so that they are still in the CPU cache. */
export const PIECE = 512 * 1024;

/** Bytes that a pool thread reads at a time. An abort takes effect in between. */
const LONG_PIECE = 8 * 1024 * 1024;

/**
 * Reads exactly `length` bytes at `offset`.
 *
 * The caller must have checked the range against the source's size, because memory is allocated for it.
 *
 * @throws {FormatError} If the data ended early, because the file shrank meanwhile.
 */
export function* readPart(
  source: ByteSource,
  offset: number,
  length: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(newMemory(length));
  yield* fill(source, bytes, offset);
  return bytes;
}

/** Fills `into` from `offset`, or throws like {@linkcode readPart}. */
export function fill(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
): Steps<unknown> {
  return fillSummed(source, into, offset, false);
}

/** {@linkcode fill}, without a step of its own for cached bytes, which would cost as much as reading them. */
export function* fillNow(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
): Steps<void> {
  if (into.length === 0) return;
  const got = source.readCached?.(into, offset) ?? 0;
  if (got < into.length) {
    yield* fill(source, into.subarray(got), offset + got);
  }
}

/** {@linkcode fill} that returns the checksum of the bytes, or 0 if none is computed. */
export function* fillSummed(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
  sum: ChecksumOf | false,
): Steps<number> {
  if (into.length === 0) return sum === false ? 0 : sum(into);
  return yield* perform({
    sync: () => fillSync(source, into, offset, sum),
    async: (signal) => fillAsync(source, into, offset, sum, signal),
  });
}

/** Fills `into` without waiting, or throws `must-wait`. Returns the checksum, or 0 if none is computed. */
export function fillSync(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
  sum: ChecksumOf | false,
): number {
  if (sum === false) {
    if (into.byteLength > 0) readExactly(source, into, offset);
    return 0;
  }
  if (into.byteLength <= PIECE) {
    if (into.length > 0) readExactly(source, into, offset);
    return sum(into);
  }
  let crc = 0;
  for (let done = 0; done < into.byteLength; done += PIECE) {
    const piece = into.subarray(done, done + PIECE);
    readExactly(source, piece, offset + done);
    crc = sum(piece, crc);
  }
  return crc;
}

/** {@linkcode fillSync}, waiting for what is not cached. `tried` is the number of bytes already read from the cache. */
export async function fillAsync(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
  sum: ChecksumOf | false,
  signal: AbortSignal | undefined,
  tried?: number,
): Promise<number> {
  // Remote sources charge per request, so everything is requested at once.
  const longest = source.readAtSync === undefined ? Infinity : LONG_PIECE;
  let crc = sum !== false && into.byteLength === 0 ? sum(into) : 0;
  let done = 0;
  let got = tried;
  while (done < into.byteLength) {
    if (got === undefined) {
      while (shouldYield()) await yieldToEventLoop();
      signal?.throwIfAborted();
      const wanted = into.subarray(done, done + PIECE);
      got = source.readCached?.(wanted, offset + done) ?? 0;
    }
    let piece = into.subarray(done, done + got);
    // After a partial cache hit, the rest is known to be missing.
    const next = got > 0 && got < PIECE ? 0 : undefined;
    if (got === 0) {
      piece = into.subarray(done, done + longest);
      await readElsewhere(source, piece, offset + done, signal);
    }
    if (sum !== false) crc = sum(piece, crc);
    done += piece.byteLength;
    got = next;
  }
  return crc;
}

function readExactly(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
): void {
  if (source.readAtSync === undefined) {
    throw mustWait(source.name);
  }
  const got = source.readAtSync(into, offset);
  if (got < into.byteLength) {
    throw endedEarly(source, offset, into.byteLength, got);
  }
}

/** Fills `into` through another thread or a server, even if the bytes are cached; otherwise like {@linkcode fill}. */
export async function readElsewhere(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
  signal: AbortSignal | undefined,
  isSequential = true,
): Promise<void> {
  const got = await source.readAt(into, offset, { signal, isSequential });
  signal?.throwIfAborted();
  if (got < into.byteLength) {
    throw endedEarly(source, offset, into.byteLength, got);
  }
}

function endedEarly(
  source: ByteSource,
  offset: number,
  wanted: number,
  got: number,
): FormatError {
  return new FormatError(
    "out-of-bounds",
    `Cannot read ${source.name} at byte ${offset}: it ended ${
      wanted - got
    } bytes early; it was truncated while it was read, or its server gave a wrong size`,
    { path: source.name, offset, expected: wanted, actual: got },
  );
}
