import { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { combineCrc32 } from "../../io/sums/combine_crc32.ts";
import type { Span, Sums } from "../../io/sums/range_sums.ts";
import { SPAN, spanSums } from "../../io/sums/span_sums.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { type Extent, newExtent, type NodeId, ROOT } from "../../tree/tree.ts";
import { openAs } from "./kinds.ts";
import { packedNames } from "./folder/packed_files.ts";
import { readSample, sampleMismatch } from "./read/read_samples.ts";
import { openRecordFiles, type RecordFiles } from "./read/record_files.ts";
import { RecordTree } from "./tree/tree.ts";

/** Numbers in the list of a span's ranges: two a sample. */
const MOST_RANGES = 2 << 14;

/**
 * Compares every sample of FFRecord files with its checksum, and reads the folder structure where
 * there is one.
 *
 * @throws {FormatError} If a header is damaged, so that nothing can be checked.
 */
export async function checkRecordFiles(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const files = await runAsync(
    openRecordFiles(location, { ...options, checkData: true }),
    options.signal,
  );
  try {
    return await new Check(files, options).run();
  } finally {
    for (const source of files.sources) source.close();
  }
}

/** Samples that follow each other, or a piece of a long one. */
interface SampleSpan extends Span {
  /** The first one. */
  readonly sample: number;
  /** Whether the rest of that one, of which this is a piece, is in the next span. */
  readonly goesOn: boolean;
  /** Why the sample can't be looked for; then there are no ranges. */
  readonly error?: unknown;
}

class Check {
  readonly #files: RecordFiles;
  readonly #options: CheckOptions;
  readonly #total: number;
  /** Of a packed folder. */
  #tree: RecordTree | undefined;
  /** The nodes of samples, made when the first is damaged. */
  #nodes: ReadonlyMap<number, NodeId> | undefined;
  /** Bytes of the samples that are done. */
  #done = 0;
  #damaged = 0;
  /** The checksum of the pieces of a long sample up to now, and the first reason why there is none. */
  #pieces: { crc: number; error: FormatError | undefined } | undefined;

  /** Samples that may be damaged only where they are kept. */
  readonly #suspicious: number[] = [];

  constructor(files: RecordFiles, options: CheckOptions) {
    this.#files = files;
    this.#options = options;
    this.#total = files.sources.reduce((sum, { size }) => sum + size, 0);
  }

  async run(): Promise<CheckReport> {
    const { signal, onProgress } = this.#options;
    const total = this.#total;
    const fault = await this.#readNames();
    for await (const { span, sums } of spanSums(this.#spans(), total, signal)) {
      this.#compare(span, sums);
      for (const sample of this.#suspicious.splice(0)) {
        await this.#readAgain(sample);
      }
      onProgress?.(this.#done, total);
    }
    if (this.#damaged === 0 && fault !== undefined) this.#report(fault);
    onProgress?.(total, total);
    return {
      samples: this.#files.index.length,
      bytes: total,
      damaged: this.#damaged,
    };
  }

  /** Reads the names of a packed folder's files; returns what is wrong with them. */
  async #readNames(): Promise<FormatError | undefined> {
    const files = this.#files;
    try {
      const reading = packedNames(files, openAs(this.#options), {});
      const packed = await runAsync(reading, this.#options.signal);
      if (packed !== undefined) {
        this.#tree = new RecordTree({ ...files, mtime: 0 }, packed.names);
      }
    } catch (error) {
      if (error instanceof FormatError) return error;
      throw error;
    }
    return undefined;
  }

  /** All samples, in spans of which each is in one file. */
  *#spans(): Generator<SampleSpan, void, undefined> {
    const { index, sources } = this.#files;
    const extent = newExtent();
    const ranges: number[] = [];
    let file = 0;
    let first = 0;
    let bytes = 0;
    const span = (sample: number, list: number[], goesOn = false) => ({
      source: sources[file]!,
      ranges: Float64Array.from(list),
      sample,
      goesOn,
    });
    const gathered = (): SampleSpan[] => {
      if (ranges.length === 0) return [];
      bytes = 0;
      return [span(first, ranges.splice(0))];
    };
    let planned = 0;
    for (let sample = 0; sample < index.length; sample++) {
      try {
        index.locate(sample, extent);
        planned = this.#notOverlapping(sample, extent, planned);
      } catch (error) {
        yield* gathered();
        yield { ...span(sample, []), error };
        continue;
      }
      const { source, offset, length } = extent;
      if (source !== file || bytes + length > SPAN) yield* gathered();
      file = source;
      if (length > SPAN) {
        for (let done = 0; done < length; done += SPAN) {
          const piece = [offset + done, Math.min(SPAN, length - done)];
          yield span(sample, piece, done + SPAN < length);
        }
        continue;
      }
      if (ranges.length === 0) first = sample;
      ranges.push(offset, length);
      bytes += length;
      if (ranges.length === MOST_RANGES) yield* gathered();
    }
    yield* gathered();
  }

  /**
   * Samples that lie on top of each other would have a small file checked for hours.
   *
   * @param planned Bytes of the samples before it.
   * @returns The same with this one.
   */
  #notOverlapping(
    sample: number,
    { source, length }: Extent,
    planned: number,
  ): number {
    if (planned + length <= this.#total) return planned + length;
    const { path } = this.#files.index.shards[source]!;
    throw new FormatError(
      "bad-offsets",
      `${path}: sample ${sample} is not checked: the samples before it are ` +
        `longer together than the file, so they overlap; it is damaged`,
      { path, sample },
    );
  }

  #compare(span: SampleSpan, sums: Sums): void {
    if (span.error !== undefined) {
      return this.#reportOf(span.sample, span.error);
    }
    for (let i = 0; i < sums.length; i++) {
      const length = span.ranges[2 * i + 1]!;
      this.#done += length;
      const sum = this.#pieces === undefined && !span.goesOn
        ? sums[i]!
        : this.#addPiece(sums[i]!, length);
      if (span.goesOn) return;
      this.#pieces = undefined;
      const sample = span.sample + i;
      if (typeof sum === "number") this.#compareSample(sample, sum);
      else this.#reportOf(sample, sum);
    }
  }

  /** The checksum of a long sample up to the end of a piece, or why there is none. */
  #addPiece(sum: number | FormatError, length: number): number | FormatError {
    const pieces = this.#pieces ??= { crc: 0, error: undefined };
    if (typeof sum !== "number") pieces.error ??= sum;
    else pieces.crc = combineCrc32(pieces.crc, sum, length);
    return pieces.error ?? pieces.crc;
  }

  #compareSample(sample: number, crc: number): void {
    const { index, sources } = this.#files;
    const extent = newExtent();
    index.locate(sample, extent);
    if (crc === extent.crc32) return;
    if (sources[extent.source]!.refetch !== undefined) {
      this.#suspicious.push(sample);
      return;
    }
    this.#reportOf(
      sample,
      sampleMismatch(index, sample, extent.crc32, crc),
    );
  }

  async #readAgain(sample: number): Promise<void> {
    try {
      const reading = readSample(this.#files, sample, true);
      await runAsync(reading, this.#options.signal);
    } catch (error) {
      this.#reportOf(sample, error);
    }
  }

  /** {@linkcode Check.#report} of what is wrong with a sample: in a packed folder it has the name of a file. */
  #reportOf(sample: number, error: unknown): void {
    const file = this.#fileOf(sample);
    this.#report(
      file !== undefined && error instanceof FormatError
        ? namedError(error, file)
        : error,
    );
  }

  /** Reports damage, after which the check goes on; anything else ends it. */
  #report(error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.#damaged++;
    this.#options.onDamage(error);
  }

  /** The file that a sample of a packed folder is. */
  #fileOf(sample: number): string | undefined {
    const tree = this.#tree;
    if (tree === undefined) return undefined;
    const node = (this.#nodes ??= nodesBySample(tree)).get(sample);
    return node === undefined ? undefined : tree.pathTo(node);
  }
}

/** The first node of each sample that has one. */
function nodesBySample(tree: RecordTree): Map<number, NodeId> {
  const nodes = new Map<number, NodeId>();
  for (let node = ROOT + 1; node <= tree.nodeCount; node++) {
    const sample = tree.recordOf(node);
    if (sample >= 0 && !nodes.has(sample)) nodes.set(sample, node);
  }
  return nodes;
}

/** An error about a sample, with the name of the file that it is. */
function namedError(error: FormatError, member: string): FormatError {
  const { code, message, sample } = error;
  const { path, offset, expected, actual, cause } = error;
  const start = path?.length ?? 0; // the path may have such words as well
  const rest = message.slice(start)
    .replace(/\bsample \d+/, (number) => `'${member}' (${number})`);
  return new FormatError(
    code,
    message.slice(0, start) + rest,
    { path, offset, expected, actual, sample, member, cause },
  );
}
