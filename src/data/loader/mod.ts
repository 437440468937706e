/**
 * The loader: datasets in batches, in any number of threads.
 *
 * @module
 */
export { BatchError, type BatchFacts, type BatchJob } from "./batch_error.ts";
export type { Collate, Collated, CollateOptions, Opaque } from "./collate.ts";
export { DataLoader } from "./data_loader.ts";
export type { ListOnly, LoaderOptions } from "./loader_options.ts";
export type { LoaderState } from "./loader_state.ts";
