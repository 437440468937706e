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

/** What of samples a dataset reads. */
export interface SamplesDatasetOptions {
  /** Whether samples are decoded; otherwise they are what is stored. Defaults to `true`. */
  readonly decode?: boolean | undefined;
  /** Names of the fields that are read; all, unless given. */
  readonly fields?: readonly string[] | undefined;
}

/**
 * Numbered samples of a container, each batch of which is one batched read, from any place.
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
   * @param reader What to read the samples from; it is closed with the dataset.
   * @param process What makes samples of those that were read.
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

  /** Paths of the files, in their order. */
  get paths(): readonly string[] {
    return this.#reader.paths;
  }

  /** The number of samples of each file, 0 of one that is left out since it is damaged. */
  override get shardLengths(): readonly number[] {
    return this.#reader.opened.shards.lengths;
  }

  /** Has samples fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    return this.#reader.expect(indices, this.#options);
  }

  /** The file that a sample lies in. */
  override fileOf(index: number): string | undefined {
    return isIndex(index, this.length) ? this.#reader.fileOf(index) : undefined;
  }

  /**
   * The files again, over the same tables.
   *
   * @throws {DataError} With code `not-portable` of a class that extends the library's.
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

  /** Closes the files. What was read stays valid. */
  override close(): void {
    this.#reader.close();
  }

  /** The class of the library that this one is, or extends: threads make samples as that does. */
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
