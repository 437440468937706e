import { FormatError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { HeadWindows } from "../../../io/read/head_windows.ts";
import { crc32cLoaded } from "../../../io/sums/crc32c.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { FOOTER, FRAME, hasRightSum, HEADER, lengthAt } from "../layout.ts";
import type { RecordColumns } from "./record_columns.ts";

/** What going through a file has found. */
export interface Scanned {
  readonly columns: RecordColumns;
  /** What is wrong behind those records: nothing that follows can be found. */
  readonly damage: FormatError | undefined;
}

/**
 * Goes through a file from length to length.
 *
 * @param checkData Whether lengths are compared with their checksums.
 */
export function* scanRecords(
  source: ByteSource,
  checkData: boolean,
): Steps<Scanned> {
  if (checkData) yield* crc32cLoaded();
  const { size } = source;
  const windows = new HeadWindows(source, FRAME, FRAME);
  const { bytes } = windows;
  const view = new DataView(bytes.buffer);
  const starts = new GrowingNumbers(size + 1);
  const sums = new GrowingNumbers(2 ** 32);
  let damage: FormatError | undefined;
  let start = 0;
  let passed: number | undefined;
  while (start < size) {
    // The checksum of the record before lies before this length.
    const from = start === 0 ? 0 : start - FOOTER;
    const wanted = Math.min(start + HEADER, size) - from;
    let at = windows.find(from, wanted);
    if (at < 0) {
      yield* windows.move(from, passed);
      at = 0;
    }
    if (start > 0) {
      sums.push(view.getUint32(at, true));
      at += FOOTER;
    }
    if (start + HEADER > size) {
      damage = endsInLength(source, start, starts.length);
      break;
    }
    // A length that is wrong does not tell that the file was cut.
    if (checkData && !hasRightSum(bytes, view, at)) {
      damage = wrongSum(source, start, starts.length);
      break;
    }
    const length = lengthAt(view, at);
    if (length > size - start - FRAME) {
      const exact = view.getBigUint64(at, true);
      damage = endsInRecord(source, start, starts.length, exact);
      break;
    }
    starts.push(start);
    passed = length;
    start += length + FRAME;
  }
  starts.push(start);
  if (damage === undefined && start > 0) {
    const at = windows.find(size - FOOTER, FOOTER);
    if (at < 0) yield* windows.move(size - FOOTER, passed);
    sums.push(view.getUint32(Math.max(at, 0), true));
  }
  return {
    columns: {
      starts: starts.finish(),
      // Less than 2^32, all of them.
      sums: sharedUint32(sums.finish()),
    },
    damage,
  };
}

function endsInLength(
  { name: path, size }: ByteSource,
  start: number,
  record: number,
): FormatError {
  return new FormatError(
    "truncated-header",
    `${path} ends at byte ${size}, inside the length of record ${record}, which starts at ${start}: ` +
      `${AFTER_CUT}`,
    { path, offset: start, sample: record },
  );
}

function endsInRecord(
  { name: path, size }: ByteSource,
  start: number,
  record: number,
  exact: bigint,
): FormatError {
  const facts = { path, offset: start, sample: record };
  const length = Number(exact);
  const there = size - start - HEADER;
  const whose = `${path}: record ${record} at byte ${start}`;
  if (length <= there) {
    const actual = there - length;
    return new FormatError(
      "truncated-data",
      `${whose} has all of its data (${exact} bytes), and ${actual} of the ${FOOTER} bytes of the checksum ` +
        `behind it: ${AFTER_CUT}`,
      { ...facts, expected: FOOTER, actual },
    );
  }
  return new FormatError(
    "truncated-data",
    `${whose} has ${exact} bytes by its length, and the file ends after ${there}: ${AFTER_CUT}`,
    { ...facts, expected: length, actual: there },
  );
}

const AFTER_CUT =
  "it was cut, or its writer did not end; fetch or write it again";

function wrongSum(
  { name: path }: ByteSource,
  start: number,
  record: number,
): FormatError {
  return new FormatError(
    "metadata-checksum",
    record === 0
      ? `${path} is no TFRecord file, or is damaged: its first length does not have its checksum; fetch it again`
      : `${path}: the length of record ${record} at byte ${start} does not have its checksum, so nothing behind ` +
        "it is found: fetch the file again",
    { path, offset: start, sample: record },
  );
}
