import { openTars } from "../tree/open_tars.ts";
import { SAMPLES } from "../kinds.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import {
  argument,
  type Imported,
  importedFunction,
  importedValue,
} from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import { type TarOptions, TarReader } from "../read/tar_reader.ts";
import { TarSamples } from "../read/tar_samples.ts";
import type { SampleDecoders, WebSample } from "../../../codecs/file_values.ts";

/** Options of {@linkcode WebDataset.open}. */
export interface WebDatasetOptions extends TarOptions, WaitOptions {
  /** Extensions of the files to read. Defaults to all. */
  readonly extensions?: readonly string[] | undefined;
  /**
   * Decoders by extension, in addition to {@linkcode SAMPLE_DECODERS}, or the module that exports them, which a loader
   * with workers requires. `null` for an extension leaves its files as bytes; `null` instead of decoders, all files.
   */
  readonly decoders?: SampleDecoders | Imported<never> | null | undefined;
}

/** {@linkcode WebDatasetOptions} with a function that transforms the decoded samples. */
export interface ProcessedWebDatasetOptions<T> extends WebDatasetOptions {
  /** Transforms a decoded sample. Must be a module's export if the loader has workers. */
  readonly process: Imported<Process<WebSample, T>>;
}

/**
 * Samples of WebDataset tars: files whose names are equal up to the first dot form a sample, keyed by their extensions.
 * Each batch is a single batched read at random offsets, so samples are shuffled globally, as in all datasets, not in a
 * window.
 *
 * @typeParam T Type of a sample: its decoded files with `__key__`, or the result of `process`.
 *
 * @example Labels of samples
 * ```ts
 * import { WebDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await WebDataset.open("test/golden/tar/webdataset/pairs.tar");
 * const [sample] = await dataset.get([2]);
 * assert.equal(sample?.__key__, "train/002");
 * assert.equal(sample?.cls, 2);
 * ```
 */
export class WebDataset<T = WebSample> extends SamplesDataset<WebSample, T> {
  /**
   * Creates the dataset from a reader; use {@linkcode WebDataset.open} to open one.
   *
   * @param reader Source of the samples; closed with the dataset.
   * @param reading Extensions to read, and decoders.
   * @param process Transforms decoded samples.
   */
  constructor(
    reader: TarReader,
    { extensions, decoders }: {
      readonly extensions?: readonly string[] | undefined;
      readonly decoders?: SampleDecoders | null | undefined;
    } = {},
    process?: Process<WebSample, T>,
  ) {
    const what = "The option 'decoders' of WebDataset";
    const samples = new TarSamples(reader.files, {
      own: decoders ?? undefined,
      portable: () => argument(decoders, what) as SampleDecoders | undefined,
    });
    super(
      new SamplesReader(samples),
      { fields: extensions, decode: decoders !== null },
      process,
    );
  }

  /**
   * Opens tars.
   *
   * @param location A tar, a directory of tars, or a pattern such as `train-{000000..000146}.tar`.
   * @throws {FormatError} If a tar is damaged.
   * @throws {DataError} With code `not-portable` if a module lacks the requested export.
   */
  static open<T>(
    this: typeof WebDataset,
    location: string | URL,
    options: ProcessedWebDatasetOptions<T>,
  ): Promise<WebDataset<T>>;
  /** Opens tars; samples are decoded files. */
  static open(
    this: typeof WebDataset,
    location: string | URL,
    options?: WebDatasetOptions,
  ): Promise<WebDataset>;
  /** Opens tars as a subclass whose constructor takes just a reader. */
  static open<D extends WebDataset<unknown>>(
    this: new (reader: TarReader) => D,
    location: string | URL,
    options?: WebDatasetOptions,
  ): Promise<D>;
  static async open(
    location: string | URL,
    options: WebDatasetOptions & {
      readonly process?: Imported<Process<WebSample, unknown>>;
    } = {},
  ): Promise<WebDataset<unknown>> {
    const { extensions, decoders: from } = options;
    const process = options.process && await importedFunction(options.process);
    const decoders = isImported(from)
      ? await importedValue(from) as SampleDecoders
      : from;
    const reader = await TarReader.open(location, options);
    const dataset = new this<unknown>(
      reader,
      { extensions, decoders },
      process,
    );
    return openedFrom(dataset, openTars, location, options, SAMPLES);
  }

  /** This class. */
  protected override get libraryClass(): { readonly name: string } {
    return WebDataset;
  }
}

function isImported(
  decoders: WebDatasetOptions["decoders"],
): decoders is Imported<never> {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // a decoder's extension may be `module`, too
  return typeof module === "string" || module instanceof URL;
}
