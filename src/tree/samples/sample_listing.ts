import { FormatError } from "../../base/errors.ts";
import { yieldWhenDue } from "../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import type { ChecksumKind } from "../../io/checksums/checksum.ts";
import { whenLoaded } from "../not_loaded.ts";
import { newExtent } from "../tree.ts";
import { lostError } from "./open_shards.ts";
import type { Samples } from "./samples.ts";

/** Where a sample lies, by the tables of its container. */
export interface ListedSample {
  readonly index: number;
  /** Which of the listing's files holds it. */
  readonly file: number;
  /** Byte offset in that file, as it is written there; NaN below 0 or above 2^53. */
  readonly offset: number;
  /** In bytes; NaN where the offsets around it are damaged. */
  readonly size: number;
  /** The recorded checksum, of the listing's kind. */
  readonly checksum: number | undefined;
  /** Why the sample cannot be read, where its offsets are damaged. */
  readonly damage: FormatError | undefined;
}

/** The samples of a container in their order; none of them is read. */
export interface SampleListing extends Disposable {
  /** Number of samples. */
  readonly length: number;
  /** The files that samples lie in; their sizes in bytes, where these are known. */
  readonly files: readonly {
    readonly path: string;
    readonly size: number | undefined;
  }[];
  /** Kind of the checksums that are recorded of each sample, if any are. */
  readonly checksumKind: ChecksumKind | undefined;
  /** Files whose tables are damaged: what is listed of them may be wrong. */
  readonly damaged: readonly FormatError[];
  /** Lists so many samples from `start` on, or those that are left. */
  page(start: number, count: number): Steps<readonly ListedSample[]>;
}

/** Samples that are stored as one piece each. */
type LocatedSamples = Samples & Required<Pick<Samples, "locate">>;

/** Whether samples are stored as one piece each. */
export function areLocated(
  samples: Samples | undefined,
): samples is LocatedSamples {
  return samples?.locate !== undefined;
}

/**
 * Lists samples by where they are located.
 *
 * @param close Closes what they were opened from.
 */
export function* listSamples(
  samples: LocatedSamples,
  close: () => void,
): Steps<SampleListing> {
  const { shards } = samples;
  const extent = newExtent();
  const isEmpty = shards.length === 0;
  if (!isEmpty) yield* whenLoaded(() => samples.locate(0, extent));
  const { checksumKind } = extent;
  return {
    length: shards.length,
    files: shards.paths.map((path) => ({ path, size: undefined })),
    checksumKind: isEmpty ? undefined : checksumKind,
    damaged: shards.lost.map(lostError),
    [Symbol.dispose]: close,
    *page(start, count) {
      const page: ListedSample[] = [];
      const end = Math.min(shards.length, start + count);
      yield* whenLoaded(() => {
        // Goes on where a table had to be fetched.
        for (let index = start + page.length; index < end; index++) {
          page.push(located(samples, index, extent));
        }
      });
      yield* perform(yieldWhenDue);
      return page;
    },
  };
}

function located(
  samples: LocatedSamples,
  index: number,
  extent: ReturnType<typeof newExtent>,
): ListedSample {
  const file = samples.shards.shardOf(index);
  try {
    samples.locate(index, extent);
  } catch (damage) {
    if (!(damage instanceof FormatError)) throw damage;
    const unknown = { offset: NaN, size: NaN, checksum: undefined };
    return { index, file, ...unknown, damage };
  }
  const { offset, length, checksum, checksumKind } = extent;
  return {
    index,
    file,
    offset,
    size: length,
    checksum: checksumKind === undefined ? undefined : checksum,
    damage: undefined,
  };
}
