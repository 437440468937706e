import { FormatError } from "../../base/errors.ts";
import { openedOver } from "../../data/dataset_origin.ts";
import type { Process } from "../../data/datasets/process.ts";
import { SamplesDataset } from "../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../data/recipe.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { SampleValues } from "../../tree/samples/samples.ts";
import type { ContainerLocation } from "../location.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { OpenedSamples } from "../samples/opened_samples.ts";
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
  if (decode !== false && process === undefined) {
    requireStackable(samples, fields);
  }
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

/**
 * Makes sure that batches can be stacked, as far as that is known without reading.
 *
 * @throws {FormatError} With code `unsupported`; the samples are closed.
 */
function requireStackable(
  samples: OpenedSamples,
  fields: readonly string[] | undefined,
): void {
  const { unit, shards, unstackable } = samples.opened;
  const why = unstackable?.(fields);
  if (why === undefined) return;
  samples.close();
  throw new FormatError(
    "unsupported",
    `Cannot open ${shards.name} as a dataset: batches of its ${unit}s cannot be stacked: ${why}. ` +
      "Give 'process' to make them alike, or read each by openSamples",
    { path: shards.paths[0] },
  );
}
