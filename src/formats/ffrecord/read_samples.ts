import { FormatError } from "../../errors.ts";
import { crc32Of } from "../../io/crc32_of.ts";
import { fill } from "../../io/read_part.ts";
import { readSlices } from "../../io/read_slices.ts";
import type { Steps } from "../../io/steps.ts";
import { type Extent, newExtent } from "../../tree/tree.ts";
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
  const extent = locate(index, sample);
  const bytes = allocate(extent.length);
  yield* fill(sources[extent.source]!, bytes, extent.offset);
  if (check) verify(index, sample, bytes, extent.crc32);
  return bytes;
}

/** Reads a batch of samples in any order, repeats allowed, as {@linkcode readSample} reads one. */
export function* readSamples(
  { sources, index }: RecordFiles,
  samples: readonly number[],
  check: boolean,
): Steps<Uint8Array[]> {
  const extents = samples.map((sample) => locate(index, sample));
  const batch = yield* readSlices(sources, extents);
  if (check) {
    batch.forEach((bytes, i) =>
      verify(index, samples[i]!, bytes, extents[i]!.crc32)
    );
  }
  return batch;
}

function locate(index: SampleIndex, sample: number): Extent {
  const extent = newExtent();
  index.locate(sample, extent);
  return extent;
}

function verify(
  index: SampleIndex,
  sample: number,
  bytes: Uint8Array,
  expected: number,
): void {
  const actual = crc32Of(bytes);
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
  const part = index.partOf(sample);
  const { path } = index.parts[part]!;
  return new FormatError(
    "sample-checksum",
    `${path}: checksum mismatch in sample ${sample - index.startOf(part)}: ` +
      `its bytes are not those that were written; fetch the file again, ` +
      `or turn checksums off to read it as it is`,
    { path, sample, expected, actual },
  );
}
