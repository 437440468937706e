import { abortable } from "../../io/concurrency/abortable.ts";
import { runAsync, runSync, type Steps } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import { inBatches, isIndex, requireIndices } from "../sample_indices.ts";
import type {
  ReadSamplesOptions,
  ReopenSamples,
  Samples,
  SamplesHandle,
} from "./samples.ts";

/**
 * Reads numbered samples, one or a batch, stored or decoded.
 *
 * @typeParam R Stored form of a sample.
 * @typeParam D Decoded form.
 * @typeParam O Options of a call: fields and memory, as far as the format supports them.
 * @typeParam B Samples yielded by `batches`: stored, unless a format decodes them.
 */
export class SamplesReader<
  R,
  D = R,
  O extends object = ReadSamplesOptions,
  B = R,
> implements Disposable {
  /** @ignore Underlying samples, for datasets and labels. */
  readonly opened: Samples<R, D>;
  readonly #fields: readonly string[] | undefined;

  /**
   * @ignore Readers are made by `open`.
   * @param fields Names of the fields to read by default.
   */
  constructor(samples: Samples<R, D>, fields?: readonly string[]) {
    this.opened = samples;
    this.#fields = fields;
  }

  /** Describes the reader for another thread, which opens it with `openShared`. */
  share(): SamplesHandle {
    return this.opened.share();
  }

  /** Number of samples. */
  get length(): number {
    return this.opened.shards.length;
  }

  /** Paths of the files, in order. */
  get paths(): readonly string[] {
    return this.opened.shards.paths;
  }

  /** Storage of the files. */
  get storage(): Storage {
    return this.opened.storage;
  }

  /**
   * Reads a sample, or a batch of samples in storage order, adjacent ones in one request.
   *
   * @param index From 0 to `length - 1`, or several such in any order, repeats allowed.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a sample is damaged.
   */
  read(index: number, options?: O & WaitOptions): Promise<R>;
  /** Reads a batch of samples. */
  read(
    indices: Iterable<number>,
    options?: O & WaitOptions,
  ): Promise<R[]>;
  async read(
    index: number | Iterable<number>,
    options?: O & WaitOptions,
  ): Promise<R | R[]> {
    const read = await runAsync(this.#read(index, options), options?.signal);
    return typeof index === "number" ? read[0]! : read;
  }

  /** {@linkcode SamplesReader.read} without waiting. */
  readSync(index: number, options?: O): R;
  /** Reads a batch of samples without waiting. */
  readSync(
    indices: Iterable<number>,
    options?: O,
  ): R[];
  readSync(
    index: number | Iterable<number>,
    options?: O,
  ): R | R[] {
    if (options === undefined && this.#fields === undefined) {
      const { readNow, shards } = this.opened;
      const isOne = typeof index === "number" && isIndex(index, shards.length);
      if (isOne && readNow !== undefined) return readNow(index);
    }
    const read = runSync(this.#read(index, options));
    return typeof index === "number" ? read[0]! : read;
  }

  /**
   * Reads a batch of samples and decodes them.
   *
   * @throws {FormatError} With code `bad-value` if one cannot be decoded.
   */
  async decoded(
    indices: Iterable<number>,
    options?: O & WaitOptions,
  ): Promise<D[]> {
    const numbers = [...indices];
    const read = await this.read(numbers, options);
    options?.signal?.throwIfAborted();
    const { fields } = this.#optionsOf(options ?? {});
    const decode = (raw: R, i: number) =>
      this.opened.decode(numbers[i]!, raw, fields);
    const decoded: D[] = [];
    for (let i = 0; i < read.length; i++) {
      const made = decode(read[i]!, i);
      if (made instanceof Promise) { // codecs may use threads: decode the rest concurrently
        const rest = read.slice(i + 1)
          .map(async (raw, k) => await decode(raw, i + 1 + k));
        const all = Promise.all([made, ...rest]);
        return [...decoded, ...await abortable(all, options?.signal)];
      }
      decoded.push(made);
    }
    return decoded;
  }

  /**
   * Yields all samples in order, in batches: stored, unless the format decodes them.
   *
   * @param options `batch` is the number of samples per read; defaults to 256.
   */
  batches(
    options: WaitOptions & { readonly batch?: number } = {},
  ): AsyncGenerator<B[], void, undefined> {
    return inBatches(
      this.length,
      options,
      (indices, options) => this.readBatch(indices, options),
    );
  }

  /**
   * Hints that samples will be read soon: samples on a server are prefetched.
   *
   * @returns Number of bytes in flight or already fetched; 0 if the files are local.
   */
  prefetch(
    indices: Iterable<number>,
    options: Pick<ReadSamplesOptions, "fields"> = {},
  ): number {
    const known = [...indices].filter((index) => isIndex(index, this.length));
    return this.opened.prefetch(known, this.#optionsOf(options));
  }

  /**
   * Returns the path of the file that contains a sample.
   *
   * @throws {IndexError} If there is no such sample.
   */
  fileOf(index: number): string {
    this.required(index);
    return this.opened.fileOf?.(index) ?? this.opened.shards.of(index).path;
  }

  /** Closes the files. Samples that were read stay valid. */
  close(): void {
    this.opened.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * @ignore Returns the requested indices after range checks.
   * @throws {IndexError} If an index is out of range.
   */
  protected required(index: number | Iterable<number>): readonly number[] {
    const { shards, unit } = this.opened;
    return requireIndices(index, shards.length, () => shards.name, unit);
  }

  /** @ignore Reads a batch for `batches`. */
  protected readBatch(
    indices: readonly number[],
    options: WaitOptions,
  ): Promise<B[]> {
    const read: Promise<unknown[]> = runAsync(
      this.#read(indices, options),
      options.signal,
    );
    return read as Promise<B[]>;
  }

  /** @ignore Returns the names of the fields that the options of a call select. */
  protected fieldsOf(
    options: Pick<ReadSamplesOptions, "fields">,
  ): readonly string[] | undefined {
    return options.fields;
  }

  #read(
    index: number | Iterable<number>,
    options: object = {},
  ): Steps<R[]> {
    return this.opened.read(this.required(index), this.#optionsOf(options));
  }

  #optionsOf(options: object): ReadSamplesOptions {
    const { memory, ...given }: ReadSamplesOptions = options;
    return { fields: this.fieldsOf(given) ?? this.#fields, memory };
  }
}

/**
 * Rebuilds shared samples in this thread.
 *
 * @throws {FormatError} If a file has changed.
 */
export async function reopenSamples(
  { module, data }: SamplesHandle,
  { storage = LOCAL_DISK, signal }: WaitOptions & {
    readonly storage?: Storage | undefined;
  } = {},
): Promise<Samples> {
  const { reopenSamples }: { readonly reopenSamples: ReopenSamples } =
    await import(module);
  return await runAsync(reopenSamples(data as never, storage), signal);
}
