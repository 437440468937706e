import type { BatchReadOptions } from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import { FFRecordSamples } from "./ffrecord_samples.ts";
import { readHeader } from "./header.ts";
import { readSample } from "./read_samples.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordLocation,
} from "./record_files.ts";

/**
 * Reads the samples of an FFRecord file, of several files as one sequence, or of a directory of `.ffr` files in name
 * order (Python's `ffrecord.FileReader`). Opening a truncated file warns; reading a sample that it has lost throws.
 *
 * @example Read samples
 * ```ts
 * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * using reader = await FFRecordReader.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const [first] = await reader.read([0]);
 * assert.equal(reader.length, 1);
 * assert.equal(first?.length, 33);
 * ```
 */
export class FFRecordReader extends SamplesReader<
  Uint8Array<ArrayBuffer>,
  Uint8Array<ArrayBuffer>,
  Pick<BatchReadOptions, "memory">
> {
  readonly #samples: FFRecordSamples;

  /** @ignore Readers are created by `open`. */
  constructor(samples: FFRecordSamples) {
    super(samples);
    this.#samples = samples;
  }

  /**
   * Opens FFRecord files.
   *
   * @param location A file, a list of files, or a directory.
   * @throws {FormatError} If a header is damaged.
   */
  static async open(
    location: RecordLocation,
    options: OpenOptions & WaitOptions = {},
  ): Promise<FFRecordReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /** {@linkcode FFRecordReader.open}, synchronously. */
  static openSync(
    location: RecordLocation,
    options: OpenOptions = {},
  ): FFRecordReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens another thread's reader in this one, over the tables that it has read and checked.
   *
   * @param handle Result of {@linkcode FFRecordReader.share}.
   * @throws {FormatError} If a file has changed.
   */
  static async openShared(
    handle: SamplesHandle,
    options: Pick<OpenOptions, "storage"> & WaitOptions = {},
  ): Promise<FFRecordReader> {
    const samples = await reopenSamples(handle, options);
    return new FFRecordReader(samples as FFRecordSamples);
  }

  /** @ignore Reader of the samples in datasets: those that are not truncated. */
  get ofWhole(): FFRecordReader {
    const whole = this.#samples.ofWhole();
    return whole === this.#samples ? this : new FFRecordReader(whole);
  }

  /**
   * Byte offset of each sample in its own file, as recorded; NaN if negative or at least 2^53. A new array of `length`
   * numbers at each access.
   */
  get offsets(): Float64Array {
    const offsets = new Float64Array(this.length);
    for (let i = 0; i < offsets.length; i++) {
      offsets[i] = this.#samples.files.index.rawOffset(i);
    }
    return offsets;
  }

  /** Recorded CRC-32 of each sample. A new array of `length` numbers at each access. */
  get checksums(): Uint32Array {
    const checksums = new Uint32Array(this.length);
    this.#samples.files.headers.forEach(({ table, count }, part) => {
      checksums.set(
        table.subarray(0, count),
        this.#samples.files.index.firsts[part]!,
      );
    });
    return checksums;
  }

  /**
   * Reads one sample (Python's `read_one`).
   *
   * @param index 0 to `length - 1`.
   * @returns The bytes, in memory that the caller owns.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If it is damaged.
   */
  readOne(index: number, options: WaitOptions = {}): Promise<Uint8Array> {
    return runAsync(
      readSample(this.#samples.files, index, this.#samples.check),
      options.signal,
    );
  }

  /** {@linkcode FFRecordReader.readOne}, synchronously. */
  readOneSync(index: number): Uint8Array {
    return runSync(readSample(this.#samples.files, index, this.#samples.check));
  }

  /**
   * Returns a view of a sample in a memory map of its file, without copying: two to three times as fast as reading.
   * Needs Linux and `--allow-ffi`.
   *
   * **Reading a view after its file was truncated kills the process**, as does a failing disk: use it only for files
   * that nobody changes. Writing to a view never changes the file, but changes all views of those bytes. The view stays
   * valid after `close()`, as long as it is referenced. Its `buffer` is the whole file and must not be transferred to
   * another thread, which would empty all views of the file. Post a copy, made with `slice()`: posting the view copies
   * the whole file.
   *
   * @param index 0 to `length - 1`.
   * @returns The bytes, verified by their checksum at each call unless `checkData` is `false`.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If it is damaged, or its file was truncated.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped; use `read` then.
   *
   * @example Look at a sample in place
   * ```ts
   * import { FFRecordReader } from "@recordfs/recordfs/ffrecord";
   * import assert from "node:assert/strict";
   *
   * using reader = await FFRecordReader.open("test/golden/ffrecord/plain_one/sample_86.ffr");
   * assert.deepEqual(reader.unsafeView(0), await reader.readOne(0));
   * ```
   */
  unsafeView(index: number): Uint8Array<ArrayBuffer> {
    return this.unsafeViews([index])[0]!;
  }

  /** {@linkcode FFRecordReader.unsafeView} of samples in the order of `indices`, with repeats allowed. */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    return this.#samples.views(this.required(indices));
  }

  /**
   * Reads all headers again and verifies their checksums (Python's `validate`).
   *
   * @throws {FormatError} If one is damaged or was changed.
   */
  validate(options: WaitOptions = {}): Promise<void> {
    return runAsync(this.#validate(), options.signal);
  }

  /** {@linkcode FFRecordReader.validate}, synchronously. */
  validateSync(): void {
    runSync(this.#validate());
  }

  *#validate(): Steps<void> {
    for (const source of this.#samples.files.sources) {
      yield* readHeader(source, true);
    }
  }
}

function* openReader(
  location: RecordLocation,
  options: OpenOptions,
): Steps<FFRecordReader> {
  const files = yield* openRecordFiles(location, options);
  const { checkData = true } = options;
  const samples = new FFRecordSamples(files, checkData, false);
  const lines = [
    ...noteLines(lostNotes(files.index.lost)),
    ...samples.whole.lines,
  ];
  warnOfAll(lines, options.onWarning);
  return new FFRecordReader(samples);
}
