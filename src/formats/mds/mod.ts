/**
 * MDS of MosaicML Streaming: `MDSWriter`. `openSamples` and `openDataset` read it, as all formats.
 *
 * @module
 */
export { MDSWriter } from "./write/mds_writer.ts";
