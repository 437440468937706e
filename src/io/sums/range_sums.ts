import { FormatError } from "../../base/errors.ts";
import { ReadWindows } from "../read/read_windows.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { runAsync } from "../concurrency/steps.ts";
import {
  type ChecksumKind,
  checksumLoaded,
  type ChecksumOf,
  checksumOf,
} from "./checksum.ts";

/** Ranges of one source, one behind the other, that a thread reads in one go. */
export interface Span {
  readonly source: ByteSource;
  /** Offset and length of each. */
  readonly ranges: Float64Array;
  readonly checksumKind: ChecksumKind;
}

/** The checksum of each range of a span, or why it can't be read. */
export type Sums = ArrayLike<number | FormatError>;

/** Reads spans for their checksums. */
export class RangeSums {
  readonly #windows: ReadWindows;

  /** @param signal Ends the waiting. */
  constructor(signal: AbortSignal | undefined) {
    this.#windows = new ReadWindows(signal);
  }

  /** The checksums of a span. Only one may be asked for at a time. */
  async of({ source, ranges, checksumKind }: Span): Promise<
    (number | FormatError)[]
  > {
    await runAsync(checksumLoaded(checksumKind));
    const take = checksumOf(checksumKind);
    const sums: (number | FormatError)[] = [];
    for (let i = 0; i < ranges.length; i += 2) {
      const [offset, length] = [ranges[i]!, ranges[i + 1]!];
      // Nearly all are in the window as a whole: waiting for each would take longer.
      const bytes = this.#windows.peek(source, offset, length);
      try {
        sums.push(
          bytes.length === length
            ? take(bytes)
            : await this.#sum(source, offset, length, take),
        );
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        sums.push(error);
      }
    }
    return sums;
  }

  /** Waits until nothing is read any more. */
  async end(): Promise<void> {
    await this.#windows.end();
  }

  async #sum(
    source: ByteSource,
    offset: number,
    length: number,
    take: ChecksumOf,
  ): Promise<number> {
    let crc = 0;
    for (let done = 0; done < length;) {
      const at = offset + done;
      const bytes = this.#windows.peek(source, at, length - done);
      if (bytes.length === 0) {
        await this.#windows.move(source, at);
        continue;
      }
      crc = take(bytes, crc);
      done += bytes.length;
    }
    return crc;
  }
}
