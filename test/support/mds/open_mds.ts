/** Opens MDS samples with the types of their values. */
import type {
  FieldBytes,
  FieldValues,
} from "../../../src/tree/field_shards/field_samples.ts";
import {
  openSamples,
  type OpenSamplesOptions,
} from "../../../src/open/samples/open_samples.ts";
import type { OpenedSamples } from "../../../src/open/samples/opened_samples.ts";

/** Opens a dataset, or a single shard. */
export function openMds(
  path: string,
  options?: OpenSamplesOptions,
): Promise<OpenedSamples<FieldValues, FieldBytes>> {
  return openSamples(path, options);
}

/** Returns the columns of the samples, and their encodings. */
export function columnsOf(
  { fields }: Pick<OpenedSamples, "fields">,
): [name: string, encoding: string][] {
  return fields!.map(({ name, type }) => [name, type.name]);
}
