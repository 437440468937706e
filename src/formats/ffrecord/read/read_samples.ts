import { FormatError } from "../../../base/errors.ts";
import { optionText, UNCHECKED } from "../../../base/named_option.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import type { MappedSources } from "../../../io/read/mapped_sources.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import { fill } from "../../../io/read/read_part.ts";
import {
  readVerified,
  requireRight,
} from "../../../io/read/verified_content.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { prefetchContents, readContents } from "../../../tree/read_contents.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { RecordFiles } from "./record_files.ts";
import type { SampleIndex } from "./sample_index.ts";

/** Reads one sample into memory of `allocate`, and verifies its checksum if `check` is set. */
export function* readSample(
  { sources, index }: RecordFiles,
  sample: number,
  check: boolean,
  allocate = (length: number): Uint8Array => new Uint8Array(length),
): Steps<Uint8Array> {
  const extent = newExtent();
  index.locate(sample, extent);
  const source = sources[extent.source]!;
  const bytes = allocate(extent.length);
  if (!check) yield* fill(source, bytes, extent.offset);
  else {
    yield* readVerified(
      source,
      extent,
      bytes,
      (...sums) => sampleMismatch(index, sample, ...sums),
    );
  }
  return bytes;
}

/** Reads a batch in any order, with repeats, like {@linkcode readSample}; into `memory`, if given. */
export function readSamples(
  { sources, index }: RecordFiles,
  samples: readonly number[],
  check: boolean,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  return readContents({
    sources,
    length: samples.length,
    locate: (i, into) => index.locate(samples[i]!, into),
    mismatch: check
      ? (i, ...sums) => sampleMismatch(index, samples[i]!, ...sums)
      : undefined,
  }, memory);
}

/** Hints that samples will be read soon: prefetches remote ones, and returns the bytes that are or were prefetched. */
export function prefetchSamples(
  { sources, index }: RecordFiles,
  samples: readonly number[],
): number {
  return prefetchContents({
    sources,
    length: samples.length,
    locate: (i, into) => index.locate(samples[i]!, into),
  });
}

export function sampleMismatch(
  index: SampleIndex,
  sample: number,
  expected: number,
  actual: number,
): FormatError {
  const part = index.shardOf(sample);
  const { path, count } = index.shards[part]!;
  const number = sample - index.firsts[part]!;
  const orCut = number + 1 === count
    ? ", or truncated, since it is the last sample"
    : "";
  return new FormatError(
    "sample-checksum",
    `Cannot read sample ${number} of ${path}: checksum mismatch: the file is damaged${orCut}. ` +
      `Download it again, or read it unchecked with ${optionText(UNCHECKED)}`,
    { path, sample, expected, actual, namedOptions: [UNCHECKED] },
  );
}

/** Returns views of samples in memory maps of their files, in the order of `samples`. */
export function viewSamples(
  mapped: MappedSources,
  { index, sources }: RecordFiles,
  samples: readonly number[],
  check: boolean,
): Uint8Array<ArrayBuffer>[] {
  const viewOf = mapped.batch(check);
  const extent = newExtent();
  return samples.map((sample) => {
    index.locate(sample, extent);
    const { source, offset, length } = extent;
    // An empty sample cannot be mapped, and may be the rest of a truncated one.
    const view = length === 0
      ? new Uint8Array()
      : viewOf(source, offset, length);
    if (check) {
      requireRight(
        sources[source]!,
        extent,
        crc32Of(view),
        (...sums) => sampleMismatch(index, sample, ...sums),
      );
    }
    return view;
  });
}
