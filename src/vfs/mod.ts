/**
 * Containers as read-only filesystems: `open` finds the format, {@linkcode VirtualFs} lists and
 * reads. Needs `--allow-read` and nothing else.
 *
 * @module
 */
export type { ContainerBytes, ContainerLocation } from "./location.ts";
export { check, open, type OpenContainerOptions } from "./open.ts";
export { openSync } from "./open_sync.ts";
export {
  VirtualFs,
  type VirtualStat,
  type WalkEntry,
  type WalkOptions,
} from "./virtual_fs.ts";
export type {
  CheckOptions,
  CheckReport,
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../tree/format.ts";
export type {
  EntryVisitor,
  Extent,
  LazySources,
  NodeId,
  NodeStat,
  Tree,
  TreeSeed,
} from "../tree/tree.ts";
export type { SampleNodes, SampleRun } from "../tree/sample_runs.ts";
export type { Effect, Steps } from "../io/concurrency/steps.ts";
export type { FileFacts, Storage } from "../io/storage/storage.ts";
export type {
  ByteSource,
  OpenFileOptions,
  SourceList,
  WaitOptions,
} from "../io/storage/byte_source.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  PathError,
  RecordfsError,
} from "../errors.ts";
