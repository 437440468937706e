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

/** Consecutive ranges of one source, which a thread reads in one go. */
export interface Span {
  readonly source: ByteSource;
  /** Offset and length of each. */
  readonly ranges: Float64Array;
  readonly checksumKind: ChecksumKind;
}

/** The checksum of each range of a span, or its error. */
export type Sums = ArrayLike<number | FormatError>;

export class RangeSums {
  readonly #windows: ReadWindows;

  constructor(signal: AbortSignal | undefined) {
    this.#windows = new ReadWindows(signal);
  }

  /** Returns the checksums of a span. Only one call may be in flight at a time. */
  async of({ source, ranges, checksumKind }: Span): Promise<
    (number | FormatError)[]
  > {
    await runAsync(checksumLoaded(checksumKind));
    const take = checksumOf(checksumKind);
    const sums: (number | FormatError)[] = [];
    for (let i = 0; i < ranges.length; i += 2) {
      const [offset, length] = [ranges[i]!, ranges[i + 1]!];
      // Nearly all ranges lie in the window. Awaiting each would take longer.
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
