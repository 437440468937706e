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
