/** Opens WebDataset samples with the types of their values. */
import {
  openDataset,
  type OpenDatasetOptions,
} from "../../../src/open/data/open_dataset.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../../../src/open/samples/open_samples.ts";
import type { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";
import type { SamplesDataset } from "../../../src/open/data/mod.ts";

/** A sample with its files decoded, by extension. */
export interface WebSample {
  readonly __key__: string;
  readonly [extension: string]: unknown;
}

/** The bytes of a sample's files, by extension. */
export interface WebBytes {
  readonly __key__: string;
  readonly [extension: string]: Uint8Array<ArrayBuffer> | string;
}

/** Opens one or several tars as samples, without detection. */
export function openWeb(
  path: string,
  options?: OpenSamplesOptions,
): Promise<OpenedSamples<WebSample, WebBytes>> {
  return openSamples(path, { ...options, format: "webdataset" });
}

/** Opens them as a dataset. */
export function openWebDataset(
  path: string,
  options?: OpenDatasetOptions,
): Promise<SamplesDataset<WebSample>> {
  return openDataset(path, { ...options, format: "webdataset" });
}
