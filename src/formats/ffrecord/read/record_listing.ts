import { FormatError } from "../../../base/errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { lostError } from "../../../tree/samples/open_shards.ts";
import { newExtent } from "../../../tree/tree.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordFiles,
  type RecordLocation,
} from "./record_files.ts";

/** What the headers say of one sample. */
export interface ListedRecord {
  /** In the sequence of all files. */
  readonly index: number;
  /** Which of the listing's files holds it. */
  readonly part: number;
  /** Byte offset in that file, as it is written there; NaN below 0 or above 2^53. */
  readonly offset: number;
  /** In bytes; NaN where the offsets around it are damaged. */
  readonly size: number;
  /** The recorded checksum. */
  readonly crc32: number;
  /** Why the sample can't be read, where its offsets are damaged. */
  readonly damage: FormatError | undefined;
}

/** The samples of FFRecord files as their headers have them; no sample is read. */
export class RecordListing {
  readonly #files: RecordFiles;
  /** The files whose metadata is not what was written: what is listed of them may be wrong. */
  readonly damaged: readonly FormatError[];

  private constructor(files: RecordFiles) {
    this.#files = files;
    this.damaged = [
      ...files.index.lost.map(lostError),
      ...files.headers.flatMap(({ mismatch }) => mismatch ?? []),
    ];
  }

  /**
   * Reads the headers of a file, of several, or of a directory of `.ffr` files.
   *
   * @throws {FormatError} If a header is so damaged that the samples can't be counted.
   */
  static async open(
    location: RecordLocation,
    options: Omit<OpenOptions, "checkData"> & WaitOptions = {},
  ): Promise<RecordListing> {
    const opening = openRecordFiles(location, { ...options, checkData: false });
    const files = await runAsync(opening, options.signal);
    for (const source of files.sources) source.close();
    return new RecordListing(files);
  }

  /** Number of samples. */
  get length(): number {
    return this.#files.index.length;
  }

  /** The files in reading order. */
  get parts(): readonly { readonly path: string; readonly size: number }[] {
    return this.#files.index.shards;
  }

  /** The samples in order; one object at a time. */
  *[Symbol.iterator](): Generator<ListedRecord> {
    const { index } = this.#files;
    const extent = newExtent();
    for (const [part, { count, table }] of index.shards.entries()) {
      const start = index.firsts[part]!;
      for (let local = 0; local < count; local++) {
        const sample = start + local;
        let damage: FormatError | undefined;
        try {
          index.locate(sample, extent);
        } catch (error) {
          if (!(error instanceof FormatError)) throw error;
          damage = error;
        }
        yield {
          index: sample,
          part,
          offset: damage ? index.rawOffset(sample) : extent.offset,
          size: damage ? NaN : extent.length,
          crc32: table[local]!,
          damage,
        };
      }
    }
  }
}
