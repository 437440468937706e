import type { DatasetForm } from "./dataset_target.ts";
import type { Generation } from "../dataset/generation.ts";
import type { Spec } from "../dataset/spec.ts";
import type { Encoders } from "../types/codec_types.ts";
import { encodersOf } from "../types/shipped.ts";
import { writtenSpec } from "./written_spec.ts";

/** Options of the writers of datasets. */
export interface DatasetWriterOptions {
  /**
   * Functions that make the bytes of values, by types; those of {@linkcode encodersOf} by default.
   * Values of types that have none are bytes, or what else a record can be written from; with `null`,
   * all are.
   */
  readonly encoders?: Encoders | null | undefined;
  /** The form of the dataset; 3 by default, that of granular 0.22. */
  readonly generation?: Generation | undefined;
}

/** What the options say, checked. */
export function datasetForm(
  directory: string,
  spec: Spec,
  { generation = 3, encoders = encodersOf(generation) }: DatasetWriterOptions,
): DatasetForm {
  requireGeneration(generation);
  const written = writtenSpec(spec, generation, directory);
  return { spec: written, encoders, generation };
}

/** @throws {RangeError} If there is no such generation. */
export function requireGeneration(generation: Generation): void {
  if ([1, 2, 3].includes(generation)) return;
  throw new RangeError(`The generation is 1, 2 or 3, not ${generation}`);
}
