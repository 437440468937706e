/**
 * Datasets: samples by index, read in batches.
 *
 * @module
 */
export { BatchMemory, BufferPool } from "../../data/batch_memory.ts";
export { DataError, type DataErrorCode } from "../../data/data_error.ts";
export { Dataset, type GetOptions } from "../../data/dataset.ts";
export {
  readIndexFile,
  type ReadIndexOptions,
  writeIndexFile,
  type WriteIndexOptions,
} from "../../data/index_file.ts";
export {
  type Imported,
  type ImportedName,
  type Portable,
  RECIPE,
  type Recipe,
} from "../../data/recipe.ts";
export {
  BagDataset,
  type BagDatasetOptions,
  type BagOpenOptions,
} from "../../formats/bags/data/bag_dataset.ts";
export type { ChooseFilesOptions } from "../../data/datasets/choose_files.ts";
export { ConcatDataset } from "../../data/datasets/concat_dataset.ts";
export {
  ArrangedDataset,
  type SamplePlace,
} from "../../data/arranged_dataset.ts";
export {
  datasetFrom,
  type MakeDataset,
} from "../../data/datasets/dataset_from.ts";
export {
  FFRecordDataset,
  type FFRecordDatasetOptions,
} from "../../formats/ffrecord/data/ffrecord_dataset.ts";
export {
  openDataset,
  type OpenDatasetOptions,
  type ProcessedDatasetOptions,
} from "./open_dataset.ts";
export type { OpenSamplesOptions } from "../samples/open_samples.ts";
export type { SampleValues } from "../../tree/samples/samples.ts";
export type { FileSample } from "../../data/datasets/file_samples.ts";
export {
  PackedFolderDataset,
  type PackedFolderDatasetOptions,
  type PackedFolderOptions,
} from "../../formats/ffrecord/data/packed_folder_dataset.ts";
export { type Process, ProcessedDataset } from "../../data/datasets/process.ts";
export {
  SamplesDataset,
  type SamplesDatasetOptions,
} from "../../data/datasets/samples_dataset.ts";
export {
  type FieldOptions,
  SamplesReader,
} from "../../tree/samples/samples_reader.ts";
export { Subset } from "../../data/datasets/subset.ts";
export {
  SAMPLE_DECODERS,
  type SampleDecoder,
  type SampleDecoders,
} from "../../codecs/file_values.ts";
export type { AlphaImage } from "../../codecs/image/image.ts";
export type { PickledValue } from "../../codecs/pickle/read_pickle.ts";
export type {
  FeatureValue,
  TFExample,
} from "../../formats/tfrecord/proto/example.ts";
export type { Datapoint } from "../../formats/bags/read/selection.ts";
export type { Mask } from "../../formats/bags/read/selection.ts";
export type { Spec } from "../../formats/bags/dataset/spec.ts";
export type { Decoders } from "../../formats/bags/types/shipped.ts";
export type {
  OpenOptions,
  RecordLocation,
} from "../../formats/ffrecord/read/record_files.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export {
  type ErrorFacts,
  IndexError,
  RecordfsError,
} from "../../base/errors.ts";
