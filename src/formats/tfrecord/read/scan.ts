import type { Steps } from "../../../io/concurrency/steps.ts";
import { HeadWindows } from "../../../io/read/head_windows.ts";
import { readUnlessWrong } from "../../../io/read/verified_content.ts";
import { crc32cLoaded } from "../../../io/checksums/crc32c.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { FOOTER, FRAME, hasRightSum, HEADER, lengthAt } from "../layout.ts";
import type { Cut } from "../../../tree/records/cut.ts";
import type { RecordColumns } from "./record_columns.ts";

export interface Scanned {
  readonly columns: RecordColumns;
  /** The record after those, if it is damaged: nothing that follows it can be found. */
  readonly cut: Cut | undefined;
}

/**
 * Scans a file from length to length; compares them with their checksums if `checkData` is set. A wrong length may be a
 * cache error of a remote file: it is then fetched again.
 */
export function* scanRecords(
  source: ByteSource,
  checkData: boolean,
): Steps<Scanned> {
  return yield* readUnlessWrong(
    source,
    () => scanOnce(source, checkData),
    ({ cut }) =>
      cut?.code === "metadata-checksum"
        ? { offset: cut.offset, length: HEADER }
        : undefined,
  );
}

function* scanOnce(
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
  let cut: Cut | undefined;
  let start = 0;
  let passed: number | undefined;
  while (start < size) {
    // The checksum of the previous record precedes this length.
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
      cut = endsInLength(source, start, starts.length);
      break;
    }
    // A wrong length does not show that the file was cut.
    if (checkData && !hasRightSum(bytes, view, at)) {
      cut = wrongSum(start, starts.length);
      break;
    }
    const length = lengthAt(view, at);
    if (length > size - start - FRAME) {
      const exact = view.getBigUint64(at, true);
      cut = endsInRecord(source, start, starts.length, exact);
      break;
    }
    starts.push(start);
    passed = length;
    start += length + FRAME;
  }
  starts.push(start);
  if (cut === undefined && start > 0) {
    const at = windows.find(size - FOOTER, FOOTER);
    if (at < 0) yield* windows.move(size - FOOTER, passed);
    sums.push(view.getUint32(Math.max(at, 0), true));
  }
  return {
    columns: {
      starts: starts.finish(),
      // All are below 2^32.
      sums: sharedUint32(sums.finish()),
    },
    cut,
  };
}

function endsInLength(
  { size }: ByteSource,
  start: number,
  record: number,
): Cut {
  return {
    code: "truncated-header",
    why:
      `the file ends at byte ${size}, inside the length of record ${record}, which starts at ${start}: ` +
      AFTER_CUT,
    offset: start,
    size: 0,
  };
}

function endsInRecord(
  { size: end }: ByteSource,
  start: number,
  record: number,
  exact: bigint,
): Cut {
  const length = Number(exact);
  const there = end - start - HEADER;
  const whose = `record ${record} at byte ${start}`;
  const code = "truncated-data";
  if (length <= there) {
    const actual = there - length;
    return {
      code,
      why:
        `${whose} has all of its data (${exact} bytes), but only ${actual} ` +
        `of the ${FOOTER} bytes of the checksum after it: ${AFTER_CUT}`,
      offset: start,
      size: length,
      expected: FOOTER,
      actual,
    };
  }
  return {
    code,
    why:
      `${whose} has ${exact} bytes by its length, and the file ends after ${there}: ${AFTER_CUT}`,
    offset: start,
    size: Number.isSafeInteger(length) ? length : 0,
    expected: length,
    actual: there,
  };
}

const AFTER_CUT =
  "it is truncated, or its writer was stopped. Download or write it again";

function wrongSum(start: number, record: number): Cut {
  return {
    code: "metadata-checksum",
    why: `checksum mismatch in the length of record ${record} at byte ` +
      `${start}, so that no record after it is found. Download the file ` +
      "again",
    offset: start,
    size: 0,
  };
}
