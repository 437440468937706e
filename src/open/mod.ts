/**
 * Containers as read-only filesystems: `open` detects the format, {@linkcode VirtualFs} lists and reads. Needs only
 * `--allow-read`.
 *
 * @module
 */
export type {
  ContainerBytes,
  ContainerLocation,
  ContainerPlace,
  SeveralLocations,
} from "./location.ts";
export {
  check,
  type CheckContainerOptions,
  open,
  type OpenContainerOptions,
} from "./open.ts";
export type { OpenSamplesOptions } from "./samples/open_samples.ts";
export type { OpenedSamples } from "./samples/opened_samples.ts";
export { openSamplesSync, openSync } from "./open_sync.ts";
export { PlacementError, type PlacementErrorCode } from "./open_several.ts";
export {
  VirtualFs,
  type VirtualStat,
  type WalkEntry,
  type WalkOptions,
} from "../tree/vfs/virtual_fs.ts";
export type {
  CheckOptions,
  CheckReport,
  Container,
  ContainerInfo,
  ContainerOptions,
  MemberKind,
  SkippedMember,
  SkipReason,
  UnreadableMember,
} from "../tree/format.ts";
export {
  type ClipView,
  type DatapointView,
  decodeValue,
  type NodeView,
  type ValueView,
} from "../tree/node_view.ts";
export type {
  ValueDecoder,
  ValueDecoding,
  ValueKind,
  ValueType,
} from "../codecs/values/value_type.ts";
export type * from "../tree/samples/samples.ts";
export type { LostShard } from "../tree/samples/open_shards.ts";
export type { Shard, ShardTable } from "../tree/samples/shard_table.ts";
export type {
  EntryVisitor,
  Extent,
  LazySources,
  NodeId,
  NodeStat,
  SampleNodes,
  SampleRun,
  SeveralSources,
  Tree,
  TreeHandle,
} from "../tree/tree.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../io/read/read_memory.ts";
export type * from "../io/storage/byte_source.ts";
export type { ChecksumKind } from "../io/sums/checksum.ts";
export type * from "../io/remote/remote_options.ts";
export type { PlaceOptions } from "../io/storage/place.ts";
export { MemoryStorage } from "../io/storage/memory_storage.ts";
export {
  type FileFacts,
  LOCAL_DISK,
  type Storage,
} from "../io/storage/storage.ts";
export { type Effect, runAsync, type Steps } from "../io/concurrency/steps.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  PathError,
  RecordfsError,
} from "../base/errors.ts";
