import { abortable } from "../../io/concurrency/abortable.ts";
import { baseOf, closeWithLayers } from "../../io/storage/layered_storage.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { isIndex } from "../../tree/sample_indices.ts";
import type { SamplesHandle } from "../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../tree/samples/samples_reader.ts";
import { DataError } from "../data_error.ts";
import { Dataset, type GetOptions, miscounted } from "../dataset.ts";
import { argument, RECIPE, type Recipe, storageArgument } from "../recipe.ts";
import { type Process, requireClass } from "./process.ts";

/** Selects what a dataset reads of each sample. */
type SamplesDatasetOptions = NonNullable<
  ConstructorParameters<typeof SamplesDataset>[1]
>;

/**
 * Samples of a container by index. Each batch is one batched read at any positions, whose result `process` makes
 * the samples of: a function, or an overridden method.
 *
 * @typeParam S What is read of a sample, decoded or not.
 * @typeParam T What one sample is.
 */
export class SamplesDataset<S, T = S> extends Dataset<T> {
  readonly #reader: SamplesReader<unknown, unknown>;
  readonly #options: SamplesDatasetOptions;
  readonly #process: Process<S, T> | undefined;

  /**
   * Makes the dataset.
   *
   * @param reader Reader of the samples; closed with the dataset.
   * @param process Makes the samples from those that were read. By default they are what is read.
   */
  constructor(
    reader: SamplesReader<unknown, unknown>,
    options: {
      /** Whether to decode samples; otherwise they are returned as stored. Defaults to `true`. */
      readonly decode?: boolean | undefined;
      /** Names of the fields to read. Defaults to all. */
      readonly fields?: readonly string[] | undefined;
    } = {},
    process?: Process<S, T>,
  ) {
    super();
    this.#reader = reader;
    this.#options = options;
    this.#process = process;
  }

  /** Number of samples. */
  override get length(): number {
    return this.#reader.length;
  }

  /** Paths of the files, in order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** Number of samples in each file; 0 for a file that was skipped as damaged. */
  override get shardLengths(): readonly number[] {
    return this.#reader.opened.shards.lengths;
  }

  /**
   * Reads a batch.
   *
   * @param indices Indices from 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a sample is damaged.
   * @throws {DataError} With code `bad-batch` if `process` returns more or fewer samples.
   */
  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    const read = await this.readBatch(indices, options);
    const made = this.process(indices, read, options);
    const samples = made instanceof Promise
      ? await abortable(made, options.signal)
      : made;
    const wrong = miscounted(samples, indices);
    if (wrong === undefined) return samples;
    const [first] = indices;
    throw new DataError(
      "bad-batch",
      `Cannot make a batch of ${indices.length} samples: the 'process' of ${this.constructor.name} made ${wrong}. ` +
        "It must return one for each index",
      {
        expected: indices.length,
        sample: first,
        path: first === undefined ? undefined : this.fileOf(first),
      },
    );
  }

  /** Fetches remote samples ahead. */
  override prefetch(indices: readonly number[]): number {
    return this.#reader.prefetch(indices, this.#options);
  }

  /** Returns the file that contains a sample. */
  override fileOf(index: number): string | undefined {
    return isIndex(index, this.length) ? this.#reader.fileOf(index) : undefined;
  }

  /**
   * Returns the recipe that reopens the files over the same tables.
   *
   * @throws {DataError} With code `not-portable` for a subclass outside of the library.
   */
  override [RECIPE](): Recipe {
    requireClass(this, this.libraryClass);
    const { storage, shards } = this.#reader.opened;
    const what = `What ${this.constructor.name} is opened with`;
    return {
      module: import.meta.url,
      name: "reopenSamplesDataset",
      how: "call",
      args: [
        argument(this.#reader.share(), what),
        storageArgument(storage, shards.name),
        this.#options,
        this.portableProcess(),
      ],
    };
  }

  /** Closes the files. Samples that were read stay valid. */
  override close(): void {
    this.#reader.close();
  }

  /** The library's class that this is or extends; other threads process samples as that class does. */
  protected get libraryClass(): { readonly name: string } {
    return SamplesDataset;
  }

  /** Reads the input of `process` for a batch, in the order of `indices`. */
  protected async readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<S[]> {
    const { decode = true, fields } = this.#options;
    const options = { memory, signal, fields };
    const read = decode
      ? await this.#reader.decoded(indices, options)
      : await this.#reader.read(indices, options);
    return read as S[];
  }

  /**
   * Makes the samples of a batch (Python's `process`). By default it calls the dataset's {@linkcode Process}, if
   * any. Subclasses may override it.
   *
   * @param indices Indices of the samples.
   * @param samples What was read of them, in that order; {@linkcode Process} says how long it is valid.
   * @param options Options of the dataset's `get`.
   * @returns One sample for each index, in that order.
   */
  protected process(
    indices: readonly number[],
    samples: S[],
    options: GetOptions,
  ): readonly T[] | Promise<readonly T[]> {
    return this.#process === undefined
      ? samples as readonly unknown[] as readonly T[]
      : this.#process(samples, indices, options);
  }

  /**
   * Returns the `process` function as an argument of the dataset's recipe.
   *
   * @throws {DataError} With code `not-portable` if the function was not imported from a module.
   */
  protected portableProcess(): unknown {
    const what = `The option 'process' of ${this.constructor.name}`;
    return argument(this.#process, what);
  }
}

/** Makes the dataset in another thread. */
export async function reopenSamplesDataset<S, T>(
  handle: SamplesHandle,
  storage: Storage | undefined,
  options: SamplesDatasetOptions,
  process: Process<S, T> | undefined,
): Promise<SamplesDataset<S, T>> {
  const samples = await reopenSamples(handle, { storage });
  if (storage !== undefined) closeWithLayers(samples, storage, baseOf(storage));
  return new SamplesDataset(new SamplesReader(samples), options, process);
}
