/**
 * API to implement a custom container format and to register it with {@linkcode registerFormat}. Its containers are
 * then used like those of other formats.
 *
 * @experimental
 * @module
 */
export { formatNames, registerFormat } from "../formats/registry.ts";
export type * from "../formats/format.ts";
export type * from "../tree/format.ts";
export { LOCAL_DISK } from "../io/storage/storage.ts";
export { runAsync } from "../io/concurrency/steps.ts";
export { type ListedFile, listedTree } from "../tree/listed_tree.ts";
export { readPart } from "../io/read/read_part.ts";
export {
  type Conversion,
  PlanNotes,
  Run as ConversionRun,
  UnfitError,
} from "../convert/conversion.ts";
export type {
  FileContent,
  FileContents,
  FilePlace,
  FileTree,
  TreeEntry,
} from "../convert/from/file_tree.ts";
export type { RecordList } from "../convert/from/record_list.ts";
export {
  ContainerSource,
  ConversionSource,
  RecordSource,
} from "../convert/from/source.ts";
export type { NewVideo, VideoSource } from "../convert/from/video_source.ts";
export type {
  ConversionTarget,
  TargetForm,
  TargetName,
} from "../convert/to/target.ts";
export type { ReadAheadOptions } from "../tree/vfs/read_ahead.ts";
export * from "./mod.ts";
