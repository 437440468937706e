/**
 * Datasets: samples by index, read in batches.
 *
 * @module
 */
export { BatchMemory, BufferPool } from "../../data/batch_memory.ts";
export { DataError } from "../../data/data_error.ts";
export { Dataset, type GetOptions } from "../../data/dataset.ts";
export { readIndexFile, writeIndexFile } from "../../data/index_file.ts";
export { type Imported, RECIPE, type Recipe } from "../../data/recipe.ts";
export {
  BagDataset,
  type BagDatasetOptions,
} from "../../formats/bags/data/bag_dataset.ts";
export type { ChooseFilesOptions } from "../../data/datasets/choose_files.ts";
export { ConcatDataset } from "../../data/datasets/concat_dataset.ts";
export { ArrangedDataset } from "../../data/arranged_dataset.ts";
export { datasetFrom } from "../../data/datasets/dataset_from.ts";
export { FFRecordDataset } from "../../formats/ffrecord/data/ffrecord_dataset.ts";
export type { FileSample } from "../../data/datasets/file_samples.ts";
export { PackedFolderDataset } from "../../formats/ffrecord/data/packed_folder_dataset.ts";
export type { Process } from "../../data/datasets/process.ts";
export { SamplesDataset } from "../../data/datasets/samples_dataset.ts";
export { SamplesReader } from "../../tree/samples/samples_reader.ts";
export { Subset } from "../../data/datasets/subset.ts";
export type { SampleDecoders } from "../../codecs/file_values.ts";
