/**
 * MDS of MosaicML Streaming: `MDSWriter`. `openSamples` and `openDataset` read it, as all formats.
 *
 * @module
 */
export { MDSWriter, type MDSWriterOptions } from "./write/mds_writer.ts";
export type { MDSInput } from "./encodings/encode.ts";
