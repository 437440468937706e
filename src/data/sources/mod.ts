/**
 * Sources: datasets composed of others. Each sample is a function of its step and the seeds, as in granular.
 *
 * @module
 */
export {
  Epochs,
  type EpochsOptions,
  Mix,
  type MixOptions,
  Sample,
  type SampleOptions,
} from "./drawn_sources.ts";
export { Interleave, Truncate } from "./ordered_sources.ts";
export { Transform, type TransformOptions } from "./transform.ts";
