import { openTars } from "../tree/open_tars.ts";
import { SAMPLES } from "../kinds.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import {
  argument,
  type Imported,
  importedFunction,
  type ImportedName,
  importedValue,
} from "../../../data/recipe.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import { type TarOptions, TarReader } from "../read/tar_reader.ts";
import { TarSamples } from "../read/tar_samples.ts";
import type { SampleDecoders, WebSample } from "../../../codecs/file_values.ts";

/** Options of opening a {@linkcode WebDataset}. */
export interface WebDatasetOptions extends TarOptions, WaitOptions {
  /** Only files with these extensions are read; all unless given. */
  readonly extensions?: readonly string[] | undefined;
  /**
   * What makes values of files, by extensions, beside {@linkcode SAMPLE_DECODERS}, or the module that exports it, which
   * a loader with workers needs. `null` for an extension leaves its files bytes; in place of decoders, all files.
   */
  readonly decoders?: SampleDecoders | URL | ImportedName | null | undefined;
}

/** {@linkcode WebDatasetOptions} where samples are not the decoded files themselves. */
export interface ProcessedWebDatasetOptions<T> extends WebDatasetOptions {
  /** The function that makes samples of decoded ones; a module's, where the loader has workers. */
  readonly process: Imported<Process<WebSample, T>>;
}

/**
 * The samples of tars that WebDataset has written: files with the same name up to its first dot are one, by their
 * extensions. Each batch is one batched read, from any place, so that samples are shuffled as those of all datasets,
 * and not in a window.
 *
 * @typeParam T What one sample is: its decoded files with `__key__`, unless `process` makes something of them.
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
   * Makes the dataset; {@linkcode WebDataset.open} opens one.
   *
   * @param reader What to read the samples from; it is closed with the dataset.
   * @param reading Which files of each, and what makes values of them.
   * @param process What makes samples of those that were decoded.
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
   * @param location A tar, the directory of several, or a pattern as `train-{000000..000146}.tar`.
   * @throws {FormatError} If one is damaged.
   * @throws {DataError} With code `not-portable` if a module does not export what is asked for.
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
  /** Opens tars as a class that extends this one, and is made of a reader alone. */
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
): decoders is URL | ImportedName {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // an extension may be called so too
  return typeof module === "string" || module instanceof URL;
}
