export { Epochs, type EpochsOptions } from "./epochs.ts";
export { Interleave } from "./interleave.ts";
export { Mix, type MixOptions } from "./mix.ts";
export { Sample, type SampleOptions } from "./sample.ts";
export { Transform, type TransformOptions } from "./transform.ts";
export { Truncate } from "./truncate.ts";
