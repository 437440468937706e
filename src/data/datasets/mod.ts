/**
 * Datasets: samples by number, read a batch at a time.
 *
 * @module
 */
export { BatchMemory, BufferPool } from "../batch_memory.ts";
export { DataError, type DataErrorCode } from "../data_error.ts";
export { Dataset, type GetOptions } from "../dataset.ts";
export {
  type Imported,
  type ImportedName,
  type Portable,
  RECIPE,
  type Recipe,
} from "../recipe.ts";
export {
  FFRecordDataset,
  type FFRecordDatasetOptions,
} from "./ffrecord_dataset.ts";
export { type Process, ProcessedDataset } from "./process.ts";
