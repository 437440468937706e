/**
 * Tar archives: {@linkcode TarReader} for their files and WebDataset samples, {@linkcode TarWriter} to write them.
 *
 * @module
 */
export { type TarOptions, TarReader } from "./read/tar_reader.ts";
export { MembersReader } from "../../tree/archive/members_reader.ts";
export type { TarSample } from "./read/tar_samples.ts";
export {
  type TarMemberOptions,
  type TarWriteOptions,
  TarWriter,
} from "./write/tar_writer.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export type { WriterBase } from "../../io/write/writer_base.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../io/read/read_memory.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export * from "../../base/errors.ts";
