import { FormatError } from "../../../base/errors.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import type { MappedSources } from "../../../io/read/mapped_sources.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import { fillSummed } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { expectContents, readContents } from "../../../tree/read_contents.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { RecordFiles } from "./record_files.ts";
import type { SampleIndex } from "./sample_index.ts";

/**
 * Reads one sample, compared with its checksum if `check` is set.
 *
 * @param allocate Makes the memory that it is read into.
 */
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
  let crc = yield* fillSummed(source, bytes, extent.offset, check && crc32Of);
  if (check && crc !== extent.crc32 && source.refetch !== undefined) {
    source.refetch(extent.offset, extent.length);
    crc = yield* fillSummed(source, bytes, extent.offset, crc32Of);
  }
  if (check) verifySample(index, sample, crc, extent.crc32);
  return bytes;
}

/**
 * Reads a batch of samples in any order, repeats allowed, as {@linkcode readSample} reads one.
 *
 * @param memory What to read into; memory of their own where not given.
 */
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
      ? (i, expected, actual) =>
        sampleMismatch(index, samples[i]!, expected, actual)
      : undefined,
  }, memory);
}

/**
 * Says that samples will be read soon: what lies on servers is fetched.
 *
 * @returns How many bytes that are.
 */
export function expectSamples(
  { sources, index }: RecordFiles,
  samples: readonly number[],
): number {
  return expectContents({
    sources,
    length: samples.length,
    locate: (i, into) => index.locate(samples[i]!, into),
  });
}

/** Compares a sample's CRC-32 with the recorded one. */
function verifySample(
  index: SampleIndex,
  sample: number,
  actual: number,
  expected: number,
): void {
  if (actual !== expected) {
    throw sampleMismatch(index, sample, expected, actual);
  }
}

/** The error for a sample whose checksum is not the recorded one. */
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
    ? " (or, since it is the last one, the file is truncated)"
    : "";
  return new FormatError(
    "sample-checksum",
    `${path}: checksum mismatch in sample ${number}: its bytes are not those that were written${orCut}; fetch the ` +
      "file again, or read it as it is with the option `checkData: false`",
    { path, sample, expected, actual },
  );
}

/** Views of samples into maps of their files, in the order of `samples`. */
export function viewSamples(
  mapped: MappedSources,
  { index }: RecordFiles,
  samples: readonly number[],
  check: boolean,
): Uint8Array<ArrayBuffer>[] {
  const viewOf = mapped.batch(check);
  const extent = newExtent();
  return samples.map((sample) => {
    index.locate(sample, extent);
    const { source, offset, length, crc32 } = extent;
    if (length === 0) { // which cannot be mapped, and may be what a cut has left
      if (check) verifySample(index, sample, 0, crc32);
      return new Uint8Array();
    }
    const view = viewOf(source, offset, length);
    if (check) verifySample(index, sample, crc32Of(view), crc32);
    return view;
  });
}
