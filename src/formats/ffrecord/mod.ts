/**
 * FFRecord containers: `FFRecordReader` for samples, `PackedFolder` for packed directories, as
 * Python's `ffrecord.FileReader` and `ffrecord.PackedFolder`; `FFRecordWriter`, `dump` and
 * `packFolder` to write them.
 *
 * @module
 */
export { FFRecordReader } from "./reader.ts";
export type { ReaderSeed } from "./reader_seed.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../io/batch_read_options.ts";
export type { BatchRoom } from "../../io/read_memory.ts";
export { PackedFolder, type PackedListOptions } from "./packed_folder.ts";
export { FFRecordWriter, type WriterOptions } from "./writer.ts";
export { dump, type DumpOptions, type SampleList } from "./dump.ts";
export { packFolder } from "./pack_folder.ts";
export type { PackOptions, PackProgress, PackReport } from "./pack_options.ts";
export { PackError, type PackProblem } from "./pack_problem.ts";
export type { SampleData } from "../../io/sample_data.ts";
export type { WaitOptions } from "../../io/byte_source.ts";
export type { OpenOptions, RecordLocation } from "./record_files.ts";
export {
  type PickledValue,
  readPickle,
} from "../../codecs/pickle/read_pickle.ts";
export {
  type PickleableValue,
  writePickle,
} from "../../codecs/pickle/write_pickle.ts";
export { PickleError } from "../../codecs/pickle/pickle_error.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  PathError,
  RecordfsError,
  WriteError,
} from "../../errors.ts";
