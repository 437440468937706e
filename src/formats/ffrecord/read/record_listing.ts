import { FormatError } from "../../../base/errors.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { lostError } from "../../../tree/samples/open_shards.ts";
import type {
  ListedSample,
  SampleListing,
} from "../../../tree/samples/sample_listing.ts";
import { newExtent } from "../../../tree/tree.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordFiles,
} from "./record_files.ts";

/**
 * Lists the samples of a file, or of a directory of `.ffr` files, as their headers have them: also of files whose headers
 * are damaged.
 *
 * @throws {FormatError} If a header is so damaged that the samples can't be counted.
 */
export function* listRecords(
  path: string,
  options: OpenOptions,
): Steps<SampleListing> {
  const opening = openRecordFiles(path, { ...options, checkData: false });
  const files = yield* opening;
  for (const source of files.sources) source.close();
  const { index, headers } = files;
  return {
    length: index.length,
    files: index.shards,
    checksumKind: "crc32",
    damaged: [
      ...index.lost.map(lostError),
      ...headers.flatMap(({ mismatch }) => mismatch ?? []),
    ],
    [Symbol.dispose]() {},
    *page(start, count) {
      yield* perform(yieldWhenDue);
      return pageOf(files, start, Math.min(index.length, start + count));
    },
  };
}

function pageOf(
  { index }: RecordFiles,
  start: number,
  end: number,
): ListedSample[] {
  const extent = newExtent();
  const page: ListedSample[] = [];
  for (let sample = start; sample < end; sample++) {
    const file = index.shardOf(sample);
    let damage: FormatError | undefined;
    try {
      index.locate(sample, extent);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      damage = error;
    }
    page.push({
      index: sample,
      file,
      offset: damage ? index.rawOffset(sample) : extent.offset,
      size: damage ? NaN : extent.length,
      checksum: index.shards[file]!.table[sample - index.firsts[file]!]!,
      damage,
    });
  }
  return page;
}
