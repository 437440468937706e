/**
 * Containers without waiting, and the types that storages, servers, files and fields have. `open` is in
 * `@recordfs/recordfs`.
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
  openSamplesSync,
  type OpenSamplesSyncOptions,
  openSync,
} from "./open_sync.ts";
export { PlacementError, type PlacementErrorCode } from "./open_several.ts";
export type {
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
export type { Field, ReadSamplesOptions } from "../tree/samples/samples.ts";
export type {
  BatchReadOptions,
  BatchReadSyncOptions,
  BatchRoom,
} from "../io/read/read_memory.ts";
export type {
  ByteSource,
  ReadOptions,
  WaitOptions,
} from "../io/storage/byte_source.ts";
export type * from "../io/remote/remote_options.ts";
export type { PlaceOptions } from "../io/storage/place.ts";
export { MemoryStorage } from "../io/storage/memory_storage.ts";
export {
  type FileFacts,
  LOCAL_DISK,
  type Storage,
} from "../io/storage/storage.ts";
export { type Effect, runAsync, type Steps } from "../io/concurrency/steps.ts";
