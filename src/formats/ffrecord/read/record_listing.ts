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

export interface ListedRecord {
  /** Index in the sequence of all files. */
  readonly index: number;
  readonly part: number;
  /** Byte offset in that file, as recorded; NaN if negative or at least 2^53. */
  readonly offset: number;
  /** Size in bytes; NaN if the offsets around it are damaged. */
  readonly size: number;
  readonly crc32: number;
  /** Why the sample cannot be read, if its offsets are damaged. */
  readonly damage: FormatError | undefined;
}

/** Samples of FFRecord files according to their headers; reads no sample. */
export class RecordListing {
  readonly #files: RecordFiles;
  /** Errors of files with damaged metadata, whose listing may be wrong. */
  readonly damaged: readonly FormatError[];

  private constructor(files: RecordFiles) {
    this.#files = files;
    this.damaged = [
      ...files.index.lost.map(lostError),
      ...files.headers.flatMap(({ mismatch }) => mismatch ?? []),
    ];
  }

  /** @throws {FormatError} If a header is so damaged that the samples cannot be counted. */
  static async open(
    location: RecordLocation,
    options: Omit<OpenOptions, "checkData"> & WaitOptions = {},
  ): Promise<RecordListing> {
    const opening = openRecordFiles(location, { ...options, checkData: false });
    const files = await runAsync(opening, options.signal);
    for (const source of files.sources) source.close();
    return new RecordListing(files);
  }

  get length(): number {
    return this.#files.index.length;
  }

  get parts(): readonly { readonly path: string; readonly size: number }[] {
    return this.#files.index.shards;
  }

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
