/**
 * FFRecord containers: `FFRecordReader` for samples, `PackedFolder` for packed directories, as Python's
 * `ffrecord.FileReader` and `ffrecord.PackedFolder`; `FFRecordWriter`, `dump` and `packFolder` to write them.
 *
 * @module
 */
export { FFRecordReader } from "./read/reader.ts";
export { PackedFolder } from "./folder/packed_folder.ts";
export { FFRecordWriter } from "./write/writer.ts";
export type { WriterBase } from "../../io/write/writer_base.ts";
export { dump } from "./write/dump.ts";
export { packFolder } from "./pack/pack_folder.ts";
export { PackError } from "./pack/pack_problem.ts";
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
