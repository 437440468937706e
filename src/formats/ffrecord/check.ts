import { FormatError } from "../../errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import { ReadWindows } from "../../io/read/read_windows.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { type Extent, newExtent } from "../../tree/tree.ts";
import { openAs } from "./entry.ts";
import { packedNames } from "./folder/packed_files.ts";
import { sampleMismatch } from "./read/read_samples.ts";
import { openRecordFiles, type RecordFiles } from "./read/record_files.ts";

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
  readonly #windows: ReadWindows;
  #done = 0;
  #damaged = 0;

  constructor(files: RecordFiles, options: CheckOptions) {
    this.#files = files;
    this.#options = options;
    this.#total = files.sources.reduce((sum, { size }) => sum + size, 0);
    this.#windows = new ReadWindows(options.signal, true);
  }

  async run(): Promise<CheckReport> {
    const { index } = this.#files;
    try {
      const extent = newExtent();
      for (let sample = 0; sample < index.length; sample++) {
        try {
          index.locate(sample, extent);
          this.#refuseOverlap(sample, extent);
          const crc = this.#crcNow(extent) ?? await this.#crc(extent);
          this.#done += extent.length;
          if (crc !== extent.crc32) {
            throw sampleMismatch(index, sample, extent.crc32, crc);
          }
        } catch (error) {
          this.#report(error);
        }
      }
    } finally {
      await this.#windows.end(); // before its files are closed
    }
    if (this.#damaged === 0) {
      await this.#checkStructure().catch((error) => this.#report(error));
    }
    this.#options.onProgress?.(this.#total, this.#total);
    return {
      samples: index.length,
      bytes: this.#total,
      damaged: this.#damaged,
    };
  }

  /** Reports damage, after which the check goes on; anything else ends it. */
  #report(error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.#damaged++;
    this.#options.onDamage(error);
  }

  /** Samples that lie on top of each other would have a small file checked for hours. */
  #refuseOverlap(sample: number, { source, length }: Extent): void {
    if (this.#done + length <= this.#total) return;
    const { path } = this.#files.index.parts[source]!;
    throw new FormatError(
      "bad-offsets",
      `${path}: sample ${sample} is not checked: the samples before it are ` +
        `longer together than the file, so they overlap; it is damaged`,
      { path, sample },
    );
  }

  /** The checksum of a sample that is in the window, as nearly all are; waiting for each would take longer. */
  #crcNow({ source, offset, length }: Extent): number | undefined {
    const bytes = this.#windows.peek(
      this.#files.sources[source]!,
      offset,
      length,
    );
    return bytes.length === length ? crc32Of(bytes) : undefined;
  }

  async #crc(extent: Extent): Promise<number> {
    const { offset, length } = extent;
    const source = this.#files.sources[extent.source]!;
    let crc = 0;
    for (let done = 0; done < length;) {
      const at = offset + done;
      const bytes = this.#windows.peek(source, at, length - done);
      if (bytes.length === 0) {
        await this.#windows.move(source, at);
        this.#options.onProgress?.(this.#done + done, this.#total);
        continue;
      }
      crc = crc32Of(bytes, crc);
      done += bytes.length;
    }
    return crc;
  }

  async #checkStructure(): Promise<void> {
    await runAsync(
      packedNames(this.#files, openAs(this.#options), {}),
      this.#options.signal,
    );
  }
}
