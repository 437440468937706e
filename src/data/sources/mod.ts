/**
 * Sources: datasets made of others, each sample a function of its step and the seeds, as in granular.
 *
 * @module
 */
export { Epochs, type EpochsOptions } from "./epochs.ts";
export { Interleave } from "./interleave.ts";
export { Mix, type MixOptions } from "./mix.ts";
export { Sample, type SampleOptions } from "./sample.ts";
export { Transform, type TransformOptions } from "./transform.ts";
export { Truncate } from "./truncate.ts";
