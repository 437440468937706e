/**
 * Tar archives: {@linkcode TarReader} for their files and WebDataset samples, {@linkcode TarWriter} to write them.
 *
 * @module
 */
export { type TarOptions, TarReader } from "./read/tar_reader.ts";
export { MembersReader } from "../../tree/archive/members_reader.ts";
export type { TarSample } from "./read/tar_samples.ts";
export { TarWriter } from "./write/tar_writer.ts";
