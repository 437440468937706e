/**
 * Tar archives: `TarWriter` writes them. `open` reads their files, `openSamples` the samples of WebDataset.
 *
 * @module
 */
export { TarWriter } from "./write/tar_writer.ts";
