import { FormatError } from "../../base/errors.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { combineCrc32 } from "../../io/sums/combine_crc32.ts";
import { CRC32C } from "../../io/sums/content_sum.ts";
import type { Span, Sums } from "../../io/sums/range_sums.ts";
import { SPAN, spanSums } from "../../io/sums/span_sums.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { newExtent } from "../../tree/tree.ts";
import { refuseCompressed } from "./read/open_index.ts";
import { RecordTable } from "./read/record_table.ts";
import { readRecords } from "./read/record_samples.ts";
import { recordPaths } from "./read/record_paths.ts";
import { type Scanned, scanRecords } from "./read/scan.ts";
import { openFile } from "../../io/storage/open_file.ts";

/** Numbers in the list of a span's ranges: two a record. */
const MOST_RANGES = 2 << 14;

/**
 * Compares every length and every record of files with its checksum. Behind a length that is wrong, nothing is found:
 * that is said, and the next file is looked at.
 */
export async function checkRecords(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const storage = options.storage ?? LOCAL_DISK;
  const { signal, onProgress } = options;
  const { paths } = await runAsync(recordPaths(location, storage), signal);
  let total = 0;
  for (const path of paths) {
    total += (await runAsync(storage.stat(path), signal))?.size ?? 0;
  }
  let [samples, bytes, damaged] = [0, 0, 0];
  const report = (error: unknown) => {
    if (!(error instanceof FormatError)) throw error;
    damaged++;
    options.onDamage(error);
  };
  for (const path of paths) {
    const source = await runAsync(openFile(storage, path), signal);
    try {
      const before = bytes;
      const check = new FileCheck(source, report, signal);
      samples += await check.run((done) =>
        onProgress?.(before + done, Math.max(before + done, total))
      );
      bytes += source.size;
      onProgress?.(bytes, Math.max(bytes, total));
    } finally {
      source.close();
    }
  }
  return { samples, bytes, damaged };
}

/** Records that follow each other, or a piece of a long one. */
interface RecordSpan extends Span {
  readonly record: number;
  /** Whether the rest of that one, of which this is a piece, is in the next span. */
  readonly goesOn: boolean;
}

class FileCheck {
  readonly #source: ByteSource;
  readonly #report: (error: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  #table = new RecordTable([]);
  /** Of a long record up to now: the checksum, or why there is none. */
  #piece: number | FormatError | undefined;

  constructor(
    source: ByteSource,
    report: (error: unknown) => void,
    signal: AbortSignal | undefined,
  ) {
    this.#source = source;
    this.#report = report;
    this.#signal = signal;
  }

  /** @returns Number of records that were found. */
  async run(onProgress: (done: number) => void): Promise<number> {
    const source = this.#source;
    const { name: path, size, mtime } = source;
    const { columns, cut } = await runAsync(scan(source), this.#signal);
    const file = { path, size, mtime, columns, cut, kind: "records" as const };
    this.#table = new RecordTable([file]);
    let done = 0;
    const spans = this.#spans();
    for await (const { span, sums } of spanSums(spans, size, this.#signal)) {
      for (const record of this.#wrong(span, sums)) {
        await this.#compareAgain(record);
      }
      for (let i = 1; i < span.ranges.length; i += 2) done += span.ranges[i]!;
      onProgress(done);
    }
    if (cut !== undefined) this.#report(this.#table.cutError(0));
    return this.#table.length;
  }

  *#spans(): Generator<RecordSpan, void, undefined> {
    const extent = newExtent();
    const ranges: number[] = [];
    let [first, bytes] = [0, 0];
    const span = (record: number, list: number[], goesOn = false) => ({
      source: this.#source,
      ranges: Float64Array.from(list),
      like: CRC32C,
      record,
      goesOn,
    });
    for (let record = 0; record < this.#table.length; record++) {
      this.#table.locate(record, extent);
      const { offset, length } = extent;
      const isFull = bytes + length > SPAN || ranges.length === MOST_RANGES;
      if (ranges.length > 0 && isFull) {
        yield span(first, ranges.splice(0));
        bytes = 0;
      }
      if (length > SPAN) {
        for (let done = 0; done < length; done += SPAN) {
          const piece = [offset + done, Math.min(SPAN, length - done)];
          yield span(record, piece, done + SPAN < length);
        }
        continue;
      }
      if (ranges.length === 0) first = record;
      ranges.push(offset, length);
      bytes += length;
    }
    if (ranges.length > 0) yield span(first, ranges);
  }

  /** The records of a span that do not have their checksums; what can't be read is reported. */
  *#wrong({ record, ranges, goesOn }: RecordSpan, sums: Sums) {
    const extent = newExtent();
    for (let i = 0; i < sums.length; i++) {
      let sum = sums[i]!;
      if (this.#piece !== undefined || goesOn) {
        sum = this.#piece = joined(this.#piece, sum, ranges[1]!);
        if (goesOn) return;
        this.#piece = undefined;
      }
      if (typeof sum !== "number") {
        this.#report(sum);
        continue;
      }
      this.#table.locate(record + i, extent);
      if (sum !== extent.crc32) yield record + i;
    }
  }

  /** What is kept of a server's file may be to blame: the reader has it come anew. */
  async #compareAgain(record: number): Promise<void> {
    const sources = [this.#source];
    try {
      const again = readRecords(sources, this.#table, [record], true);
      await runAsync(again, this.#signal);
    } catch (error) {
      this.#report(error);
    }
  }
}

function* scan(source: ByteSource): Steps<Scanned> {
  yield* refuseCompressed(source);
  return yield* scanRecords(source, true);
}

function joined(
  before: number | FormatError | undefined,
  sum: number | FormatError,
  length: number,
): number | FormatError {
  if (before === undefined || typeof before !== "number") return before ?? sum;
  return typeof sum === "number" ? combineCrc32(before, sum, length) : sum;
}
