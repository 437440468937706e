/**
 * FFRecord containers: `FFRecordReader` for samples, `PackedFolder` for packed directories, as Python's
 * `ffrecord.FileReader` and `ffrecord.PackedFolder`; `FFRecordWriter`, `dump` and `packFolder` to write them.
 *
 * @module
 */
export { FFRecordReader } from "./read/reader.ts";
export {
  PackedFolder,
  type PackedListOptions,
} from "./folder/packed_folder.ts";
export { FFRecordWriter, type WriterOptions } from "./write/writer.ts";
export type { WriterBase } from "../../io/write/writer_base.ts";
export { dump, type DumpOptions, type SampleList } from "./write/dump.ts";
export {
  packFolder,
  type PackOptions,
  type PackProgress,
  type PackReport,
} from "./pack/pack_folder.ts";
export { PackError, type PackProblem } from "./pack/pack_problem.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export type { OpenOptions, RecordLocation } from "./read/record_files.ts";
export {
  type PickledValue,
  readPickle,
} from "../../codecs/pickle/read_pickle.ts";
export {
  type PickleableValue,
  writePickle,
} from "../../codecs/pickle/write_pickle.ts";
export { PickleError } from "../../codecs/pickle/pickle_error.ts";
