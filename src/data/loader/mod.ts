/**
 * The loader: batches of a dataset, loaded in any number of threads.
 *
 * @module
 */
export { BatchError } from "./batch_error.ts";
export type { Collated } from "./batch/collate.ts";
export { DataLoader } from "./data_loader.ts";
export type { LoaderOptions } from "./loader_options.ts";
export type { LoaderState } from "./loader_state.ts";
