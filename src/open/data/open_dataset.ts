import { openedOver } from "../../data/dataset_origin.ts";
import type { Process } from "../../data/datasets/process.ts";
import { SamplesDataset } from "../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../data/recipe.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { SampleValues } from "../../tree/samples/samples.ts";
import type { ContainerLocation } from "../location.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../samples/open_samples.ts";

/** Options of {@linkcode openDataset}. */
export interface OpenDatasetOptions extends OpenSamplesOptions, WaitOptions {
  /** Whether values are decoded; otherwise they are the stored bytes. Defaults to `true`. */
  readonly decode?: boolean | undefined;
}

/** {@linkcode OpenDatasetOptions} with a function that makes training data of samples. */
export interface ProcessedDatasetOptions<T, S extends object = SampleValues>
  extends OpenDatasetOptions {
  /** Makes what is trained on of the samples of a batch; a module's function, where the loader has workers. */
  readonly process: Imported<Process<S, T>>;
}

/**
 * Opens a container of any format as a dataset for a `DataLoader`. Its samples are those of {@linkcode openSamples};
 * each batch is one batched read.
 *
 * @param location A file or directory, or a pattern of several, such as `train-{000..146}.tar`; or an opened container.
 * The dataset closes an opened container. Worker threads of a loader cannot open one whose samples are its files.
 * @throws {FormatError} If it is not a known container, or is damaged.
 * @throws {DataError} With code `not-portable` if the module of `process` or `decoders` does not export them.
 *
 * @example Batches of any format
 * ```ts
 * import { DataLoader, openDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await openDataset("test/golden/mds/plain/data", { fields: ["label"] });
 * await using loader = new DataLoader(dataset, { batchSize: 4 });
 * for await (const { label } of loader) console.log(label);
 * const [sample] = await dataset.get([2]);
 * assert.equal(sample?.label, 2);
 * ```
 */
export async function openDataset<T, S extends object = SampleValues>(
  location: ContainerLocation | VirtualFs,
  options: ProcessedDatasetOptions<T, S>,
): Promise<SamplesDataset<S, T>>;
/** Opens a container; samples are values by the names of fields. */
export async function openDataset<S extends object = SampleValues>(
  location: ContainerLocation | VirtualFs,
  options?: OpenDatasetOptions,
): Promise<SamplesDataset<S>>;
export async function openDataset(
  location: ContainerLocation | VirtualFs,
  options: OpenDatasetOptions & {
    readonly process?: Imported<Process<never, unknown>>;
  } = {},
): Promise<SamplesDataset<object, unknown>> {
  const { decode, process: given, ...others } = options;
  if (decode === false && others.decoders !== undefined) {
    throw new TypeError(
      "Cannot apply the option 'decoders' with decode: false. Give one of them",
    );
  }
  const process = given && await importedFunction(given);
  const samples = await openSamples(location, others);
  const { fields, files, paths } = others;
  const dataset = new SamplesDataset<object, unknown>(
    samples,
    { decode, fields },
    process as Process<object, unknown> | undefined,
  );
  const areAll = files === undefined && paths === undefined;
  return areAll ? openedOver(dataset, samples.container!) : dataset;
}
