import { FormatError } from "../../../base/errors.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { crc32cLoaded } from "../../../io/checksums/crc32c.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { openAdjacent } from "../../../io/storage/open_adjacent.ts";
import { openedAt } from "../../../io/storage/open_file.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import {
  sharedUint32,
  type WholeNumbers,
} from "../../../tree/shared_numbers.ts";
import { FOOTER, FRAME, hasRightSum, HEADER, lengthAt } from "../layout.ts";
import type { RecordColumns } from "./record_columns.ts";
import { scanRecords } from "./scan.ts";

/** Files of a server from this size on are looked up in an index. */
const LARGE = 8 << 20;
/** Average bytes of a record from which on reading lengths by an index is faster than reading all of the file. */
const LARGE_RECORD = 1 << 16;
/** Longest line of an index, in bytes. */
const LONGEST_LINE = 34;

/** Returns the path that DALI's documents give the index of a file. */
export function daliPath(path: string): string {
  return `${path}.idx`;
}

/**
 * Returns the index that DALI's `tfrecord2idx` makes of a file: lines of `OFFSET SIZE`, lengths and checksums included.
 *
 * @throws {FormatError} If the file is damaged.
 */
export function* daliIndexOf(source: ByteSource): Steps<Uint8Array[]> {
  const { columns: { starts }, cut } = yield* scanRecords(source, true);
  if (cut !== undefined) {
    const { code, why, ...facts } = cut;
    const { name: path } = source;
    const message = `Cannot index ${path} for DALI: ${why}`;
    throw new FormatError(code, message, { ...facts, path });
  }
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let lines = "";
  for (let record = 0; record + 1 < starts.length; record++) {
    const start = starts[record]!;
    lines += `${start} ${starts[record + 1]! - start}\n`;
    if (lines.length < LARGE_RECORD) continue;
    parts.push(encoder.encode(lines));
    lines = "";
  }
  return [...parts, encoder.encode(lines)];
}

/**
 * Finds the records of a file on a server by the index that DALI's `tfrecord2idx` has made of it. Every length is read and
 * compared, several at a time, which scanning the file cannot.
 *
 * @returns `undefined` if there is no index, it does not agree with the file, or scanning is as fast.
 */
export function* scanByDali(
  source: ByteSource,
): Steps<RecordColumns | undefined> {
  const place = openedAt(source);
  const isFar = source.readAtSync === undefined;
  if (!isFar || source.size < LARGE || place === undefined) return undefined;
  const index = yield* openAdjacent(place.storage, daliPath(place.path));
  if (index === undefined) return undefined;
  let starts: WholeNumbers | undefined;
  try {
    if (index.size > source.size / LARGE_RECORD * LONGEST_LINE) {
      return undefined;
    }
    const bytes = yield* readPart(index, 0, index.size);
    starts = startsIn(utf8Text(bytes), source.size);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  } finally {
    index.close();
  }
  return starts && (yield* compared(source, starts));
}

/** Returns the starts of records, and the end of the last; `undefined` if they do not fill a file of that size. */
function startsIn(text: string, size: number): WholeNumbers | undefined {
  const starts = new GrowingNumbers(size + 1);
  let end = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, start, length] = /^(\d{1,15}) (\d{1,15})$/.exec(line) ?? [];
    if (Number(start) !== end || !(Number(length) >= FRAME)) return undefined;
    starts.push(end);
    end += Number(length);
  }
  starts.push(end);
  return end === size ? starts.finish() : undefined;
}

/** Returns the columns of records, if each has the length that its start says. */
function* compared(
  source: ByteSource,
  starts: WholeNumbers,
): Steps<RecordColumns | undefined> {
  yield* crc32cLoaded();
  const count = starts.length - 1;
  const sums = sharedUint32(count);
  let isSame = true;
  const reads = Array.from(starts, function* (start, record): Steps<void> {
    if (!isSame) return;
    // The checksum of the previous record precedes a length.
    const before = record === 0 ? 0 : FOOTER;
    const after = record === count ? 0 : HEADER;
    const bytes = yield* readPart(source, start - before, before + after);
    const view = new DataView(bytes.buffer);
    if (before > 0) sums[record - 1] = view.getUint32(0, true);
    if (after === 0) return;
    const length = starts[record + 1]! - start - FRAME;
    isSame &&= hasRightSum(bytes, view, before) &&
      lengthAt(view, before) === length;
  });
  yield* inParallel(reads);
  return isSame ? { starts, sums } : undefined;
}
