import { FormatError } from "../../errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import { fill } from "../../io/read/read_part.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { newExtent } from "../../tree/tree.ts";
import { openAs } from "./entry.ts";
import { packedNames } from "./folder/packed_files.ts";
import { sampleMismatch } from "./read/read_samples.ts";
import { openRecordFiles, type RecordFiles } from "./read/record_files.ts";

/** Files are read front to back in windows of this size. */
const WINDOW = 4 << 20;

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

class Check {
  readonly #files: RecordFiles;
  readonly #options: CheckOptions;
  readonly #total: number;
  readonly #window = new Uint8Array(WINDOW);
  #windowSource: ByteSource | undefined;
  #windowStart = 0;
  #windowLength = 0;
  #done = 0;
  #damaged = 0;

  constructor(files: RecordFiles, options: CheckOptions) {
    this.#files = files;
    this.#options = options;
    this.#total = files.sources.reduce((sum, { size }) => sum + size, 0);
  }

  async run(): Promise<CheckReport> {
    const { index, sources } = this.#files;
    const extent = newExtent();
    for (let sample = 0; sample < index.length; sample++) {
      await this.#guard(async () => {
        index.locate(sample, extent);
        const { source, offset, length } = extent;
        this.#refuseOverlap(sample, source, length);
        const crc = await this.#crc(sources[source]!, offset, length);
        this.#done += length;
        if (crc !== extent.crc32) {
          throw sampleMismatch(index, sample, extent.crc32, crc);
        }
      });
    }
    if (this.#damaged === 0) await this.#guard(() => this.#checkStructure());
    this.#options.onProgress?.(this.#total, this.#total);
    return {
      samples: index.length,
      bytes: this.#total,
      damaged: this.#damaged,
    };
  }

  /** Reports damage and goes on; anything else ends the check. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.#damaged++;
      this.#options.onDamage(error);
    }
  }

  /** Samples that lie on top of each other would have a small file checked for hours. */
  #refuseOverlap(sample: number, part: number, length: number): void {
    if (this.#done + length <= this.#total) return;
    const { path } = this.#files.index.parts[part]!;
    throw new FormatError(
      "bad-offsets",
      `${path}: sample ${sample} is not checked: the samples before it are ` +
        `longer together than the file, so they overlap; it is damaged`,
      { path, sample },
    );
  }

  async #crc(
    source: ByteSource,
    offset: number,
    length: number,
  ): Promise<number> {
    let crc = 0;
    for (let done = 0; done < length;) {
      const at = offset + done;
      const behind = at - this.#windowStart;
      if (
        source !== this.#windowSource || behind < 0 ||
        behind >= this.#windowLength ||
        // A short sample is worth a new window; a long one takes what is there.
        behind + length - done > this.#windowLength && behind > 0
      ) {
        await this.#move(source, at);
        continue;
      }
      const end = Math.min(behind + length - done, this.#windowLength);
      crc = crc32Of(this.#window.subarray(behind, end), crc);
      done += end - behind;
    }
    return crc;
  }

  async #move(source: ByteSource, start: number): Promise<void> {
    const length = Math.min(WINDOW, source.size - start);
    const window = this.#window.subarray(0, length);
    await runAsync(fill(source, window, start), this.#options.signal);
    this.#windowSource = source;
    this.#windowStart = start;
    this.#windowLength = length;
    this.#options.onProgress?.(this.#done, this.#total);
  }

  async #checkStructure(): Promise<void> {
    await runAsync(
      packedNames(this.#files, openAs(this.#options), {}),
      this.#options.signal,
    );
  }
}
