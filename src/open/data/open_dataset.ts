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

/** Implements `openDataset` of `mod.ts`, which loads this module on demand. */
export async function openDataset<T, S extends object = SampleValues>(
  location: ContainerLocation | VirtualFs,
  options: OpenDatasetOptions & { readonly process: Imported<Process<S, T>> },
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
  const { container } = samples;
  return areAll && container !== undefined
    ? openedOver(dataset, container)
    : dataset;
}
