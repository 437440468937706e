import { RecordfsError } from "../../base/errors.ts";
import type { BatchReadOptions } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { ContainerOptions } from "../../tree/format.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../tree/samples/samples_reader.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";

/**
 * Samples of a container of any format, by index and field.
 *
 * `get` decodes values; `read` returns the stored bytes (values, for Parquet).
 *
 * @typeParam D What a program knows of decoded samples, such as `{ label: number }`.
 * @typeParam R What it knows of stored ones.
 */
export class OpenedSamples<
  D extends object = SampleValues,
  R extends object = SampleValues,
> extends SamplesReader<R, D, ReadSamplesOptions, D> {
  /** @ignore Container of the samples; `undefined` if another thread opened it. */
  readonly container: VirtualFs | undefined;

  /** @ignore Use `openSamples`. */
  constructor(
    samples: Samples<R, D>,
    fields?: readonly string[],
    container?: VirtualFs,
  ) {
    super(samples, fields);
    this.container = container;
  }

  /** Name of one sample, such as `row` or `record`. */
  get unit(): string {
    return this.opened.unit;
  }

  /** Fields of all samples with their types; `undefined` if each sample has its own fields, as in WebDataset. */
  get fields(): readonly Field[] | undefined {
    return this.opened.fields;
  }

  /** Returns the container's name of a sample, such as a WebDataset key; `undefined` if its samples have no names. */
  keyOf(index: number): string | undefined {
    this.required(index);
    return this.opened.keyOf?.(index);
  }

  /**
   * Reads and decodes a sample, or a batch of samples.
   *
   * @param index From 0 to `length - 1`; or any number of them, in any order, repeats allowed.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If one is damaged; with code `bad-value` if one cannot be decoded.
   */
  get(
    index: number,
    options?: BatchReadOptions & Pick<ReadSamplesOptions, "fields">,
  ): Promise<D>;
  /** Reads and decodes a batch of samples. */
  get(
    indices: Iterable<number>,
    options?: BatchReadOptions & Pick<ReadSamplesOptions, "fields">,
  ): Promise<D[]>;
  async get(
    index: number | Iterable<number>,
    options?: BatchReadOptions & Pick<ReadSamplesOptions, "fields">,
  ): Promise<D | D[]> {
    if (typeof index !== "number") return await this.decoded(index, options);
    const [sample] = await this.decoded([index], options);
    return sample!;
  }

  /**
   * Returns views of samples' stored contents in memory maps of their files, without copying. Works for TFRecord
   * records and plain FFRecord samples. Linux only; needs `--allow-ffi`.
   *
   * **Reading a view after its file was truncated kills the process**, as does a failing disk: use it only for files
   * that nobody changes. The `buffer` of a view is the whole file, so it must not be transferred to another thread:
   * post a copy, made with `slice()`. Views stay valid after `close()`.
   *
   * @returns The bytes; each call verifies their checksums, unless `checkData` is `false`.
   * @throws {IndexError} If there is no such sample.
   * @throws {RecordfsError} With code `unsupported` if files cannot be mapped, or hold no such contents; use `read`
   * there.
   */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    const { views, shards } = this.opened;
    if (views !== undefined) return views(this.required(indices));
    throw new RecordfsError(
      "unsupported",
      `Cannot view samples of ${shards.name} in place: they are not stored in one piece each. Read them`,
      { path: shards.name },
    );
  }

  /**
   * Opens samples in another thread, with the tables that the sharing thread has read.
   *
   * @param handle Result of `share`.
   * @throws {FormatError} If a file has changed.
   */
  static async openShared<
    D extends object = SampleValues,
    R extends object = SampleValues,
  >(
    handle: SamplesHandle,
    options: Pick<ContainerOptions, "storage"> & WaitOptions = {},
  ): Promise<OpenedSamples<D, R>> {
    const samples = await reopenSamples(handle, options);
    return new OpenedSamples(samples as Samples<R, D>);
  }

  /** Yields all samples in order, decoded. Reads them in batches. */
  async *[Symbol.asyncIterator](): AsyncGenerator<D, void, undefined> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** @ignore */
  protected override readBatch(
    indices: readonly number[],
    options: BatchReadOptions,
  ): Promise<D[]> {
    return this.decoded(indices, options);
  }
}
