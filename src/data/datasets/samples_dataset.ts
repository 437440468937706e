import type { Storage } from "../../io/storage/storage.ts";
import { isIndex } from "../../tree/sample_indices.ts";
import type { SamplesHandle } from "../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../tree/samples/samples_reader.ts";
import type { GetOptions } from "../dataset.ts";
import { argument, RECIPE, type Recipe, storageArgument } from "../recipe.ts";
import { type Process, ProcessedDataset, requireClass } from "./process.ts";

/** Selects what a dataset reads of each sample. */
export interface SamplesDatasetOptions {
  /** Whether to decode samples; otherwise they are returned as stored. Defaults to `true`. */
  readonly decode?: boolean | undefined;
  /** Names of the fields to read. Defaults to all. */
  readonly fields?: readonly string[] | undefined;
}

/**
 * Samples of a container by index. Each batch is one batched read at any positions.
 *
 * @typeParam S What is read of a sample, decoded or not.
 * @typeParam T What one sample is.
 */
export class SamplesDataset<S, T = S> extends ProcessedDataset<S, T> {
  readonly #reader: SamplesReader<unknown, unknown>;
  readonly #options: SamplesDatasetOptions;

  /**
   * Makes the dataset.
   *
   * @param reader Reader of the samples; closed with the dataset.
   * @param process Makes the samples from those that were read.
   */
  constructor(
    reader: SamplesReader<unknown, unknown>,
    options: SamplesDatasetOptions = {},
    process?: Process<S, T>,
  ) {
    super(process);
    this.#reader = reader;
    this.#options = options;
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

  /** Fetches remote samples ahead. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices, this.#options);
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

  /** Reads the samples of a batch. */
  protected override async readBatch(
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
}

/** Makes the dataset in another thread. */
export async function reopenSamplesDataset<S, T>(
  handle: SamplesHandle,
  storage: Storage | undefined,
  options: SamplesDatasetOptions,
  process: Process<S, T> | undefined,
): Promise<SamplesDataset<S, T>> {
  const samples = await reopenSamples(handle, { storage });
  return new SamplesDataset(new SamplesReader(samples), options, process);
}
