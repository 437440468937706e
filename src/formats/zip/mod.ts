/**
 * Zip archives: `ZipReader` reads their files, in any order.
 *
 * @module
 */
export {
  type ZipOptions,
  ZipReader,
  type ZipReaderHandle,
} from "./read/zip_reader.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../../io/read/read_memory.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export * from "../../base/errors.ts";
