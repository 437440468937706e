/** Samples of MDS with the types that their values have. */
import type {
  FieldBytes,
  FieldValues,
} from "../../../src/tree/field_shards/field_samples.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../../../src/open/samples/open_samples.ts";
import type { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";

/** Opens a dataset, or a shard alone. */
export function openMds(
  path: string,
  options?: OpenSamplesOptions,
): Promise<OpenedSamples<FieldValues, FieldBytes>> {
  return openSamples(path, options);
}

/** The columns of all samples, and how each is written. */
export function columnsOf(
  { fields }: Pick<OpenedSamples, "fields">,
): [name: string, encoding: string][] {
  return fields!.map(({ name, type }) => [name, type.name]);
}
