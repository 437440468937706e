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
