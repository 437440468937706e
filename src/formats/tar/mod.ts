/**
 * Tar archives: `TarWriter` writes them. `open` reads their files, `openSamples` the samples of WebDataset.
 *
 * @module
 */
export {
  type TarMemberOptions,
  type TarWriteOptions,
  TarWriter,
} from "./write/tar_writer.ts";
export type { SampleData } from "../../io/write/sample_data.ts";
export type { WriterBase } from "../../io/write/writer_base.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export * from "../../base/errors.ts";
