import { FormatError } from "../../../errors.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { MappedFile } from "../../../io/read/memory_map.ts";
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
  const part = index.partOf(sample);
  const { path } = index.parts[part]!;
  return new FormatError(
    "sample-checksum",
    `${path}: checksum mismatch in sample ${sample - index.startOf(part)}: ` +
      `its bytes are not those that were written; fetch the file again, ` +
      "or read it as it is with the option `checkData: false`",
    { path, sample, expected, actual },
  );
}

/** Samples as views into memory maps of their files, which are made when they are first needed. */
export class MappedSamples {
  readonly #files: RecordFiles;
  readonly #check: boolean;
  /** By their indices. */
  readonly #mapped = new Map<number, MappedFile>();

  /** @param check Whether samples are compared with their checksums. */
  constructor(files: RecordFiles, check: boolean) {
    this.#files = files;
    this.#check = check;
  }

  /** Views of samples, in the order of `samples`. */
  views(samples: readonly number[]): Uint8Array<ArrayBuffer>[] {
    const { index } = this.#files;
    const sizeIsKnown = new Set<MappedFile>();
    const extent = newExtent();
    return samples.map((sample) => {
      index.locate(sample, extent);
      const { source, offset, length, crc32 } = extent;
      if (length === 0) { // which cannot be mapped, and may be what a cut has left
        if (this.#check) verifySample(index, sample, 0, crc32);
        return new Uint8Array();
      }
      const file = this.#fileOf(source);
      const view = file.unchecked().subarray(offset, offset + length);
      if (this.#check) {
        if (!sizeIsKnown.has(file)) file.checkSize(); // once a batch
        sizeIsKnown.add(file);
        verifySample(index, sample, crc32Of(view), crc32);
      }
      return view;
    });
  }

  /** Lets go of the maps: each goes away with its last view. */
  close(): void {
    for (const file of this.#mapped.values()) file.close();
    this.#mapped.clear();
  }

  #fileOf(part: number): MappedFile {
    let file = this.#mapped.get(part);
    if (file === undefined) {
      file = new MappedFile(this.#files.sources[part]!);
      this.#mapped.set(part, file);
    }
    return file;
  }
}
