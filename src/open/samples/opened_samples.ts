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
  type FieldOptions,
  reopenSamples,
  SamplesReader,
} from "../../tree/samples/samples_reader.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";

/**
 * The samples of a container of any format, by number and field.
 *
 * `get` decodes values, `read` gives the bytes that are stored (of Parquet, values).
 *
 * @typeParam D What a program knows of decoded samples, such as `{ label: number }`.
 * @typeParam R What it knows of stored ones.
 */
export class OpenedSamples<
  D extends object = SampleValues,
  R extends object = SampleValues,
> extends SamplesReader<R, D, ReadSamplesOptions, D> {
  /** @ignore What they are of; of samples that another thread has opened, `undefined`. */
  readonly container: VirtualFs | undefined;

  /** @ignore Samples are opened by `openSamples`. */
  constructor(
    samples: Samples<R, D>,
    fields?: readonly string[],
    container?: VirtualFs,
  ) {
    super(samples, fields);
    this.container = container;
  }

  /** What one sample is called, such as `row` or `record`. */
  get unit(): string {
    return this.opened.unit;
  }

  /** The fields of samples and their types; `undefined` where each sample has its own, as those of WebDataset. */
  get fields(): readonly Field[] | undefined {
    return this.opened.fields;
  }

  /** What the container calls a sample, such as a key of WebDataset; `undefined` where its samples have no names. */
  keyOf(index: number): string | undefined {
    this.required(index);
    return this.opened.keyOf?.(index);
  }

  /**
   * Reads and decodes a sample, or a batch of samples.
   *
   * @param index From 0 to `length - 1`, or any number of such, in any order, repeats allowed.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If one is damaged; with code `bad-value` if one cannot be decoded.
   */
  get(
    index: number,
    options?: BatchReadOptions & FieldOptions,
  ): Promise<D>;
  /** Reads and decodes a batch of samples. */
  get(
    indices: Iterable<number>,
    options?: BatchReadOptions & FieldOptions,
  ): Promise<D[]>;
  async get(
    index: number | Iterable<number>,
    options?: BatchReadOptions & FieldOptions,
  ): Promise<D | D[]> {
    if (typeof index !== "number") return await this.decoded(index, options);
    const [sample] = await this.decoded([index], options);
    return sample!;
  }

  /**
   * Views of the contents that samples are stored as, in memory maps of their files: nothing is copied. Linux only, and it
   * needs `--allow-ffi`. Of records of TFRecord and plain samples of FFRecord.
   *
   * **Reading a view after its file was cut short kills the process**, as does a disk that fails: so for files that
   * nobody changes. The `buffer` of a view is the whole file: it must not be transferred to another thread, and a copy,
   * made with `slice()`, is what is posted. Views stay valid after `close()`.
   *
   * @returns The bytes; compared with their checksums at each call, unless `checkData` is `false`.
   * @throws {IndexError} If there is no such sample.
   * @throws {RecordfsError} With code `unsupported` where files cannot be mapped, or hold no such contents: `read` works
   * there.
   */
  unsafeViews(indices: Iterable<number>): Uint8Array<ArrayBuffer>[] {
    const { views, shards } = this.opened;
    if (views !== undefined) return views(this.required(indices));
    throw new RecordfsError(
      "unsupported",
      `Cannot view samples of ${shards.name} in place: they are not stored as one content each. Read them`,
      { path: shards.name },
    );
  }

  /**
   * Opens samples in another thread, over the tables that this one has read.
   *
   * @param handle What `share` gave.
   * @throws {FormatError} If a file is not the same any more.
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

  /** Gives all samples in their order, decoded, which are read in batches. */
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
