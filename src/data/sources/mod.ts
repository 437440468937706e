/**
 * Sources: datasets composed of others. Each sample is a function of its step and the seeds, as in granular.
 *
 * @module
 */
export { Epochs, Mix, Sample } from "./drawn_sources.ts";
export { Interleave, Truncate } from "./ordered_sources.ts";
export { Transform } from "./transform.ts";
