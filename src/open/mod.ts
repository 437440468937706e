/**
 * Containers without waiting, and the types that storages, servers, files and fields have. `open` is in
 * `@recordfs/recordfs`.
 *
 * @module
 */
export type { ContainerLocation, SeveralLocations } from "./location.ts";
export { openSamplesSync, openSync } from "./open_sync.ts";
export { PlacementError } from "./open_several.ts";
export type { ContainerInfo, ContainerOptions } from "../tree/format.ts";
export { decodeValue, type NodeView } from "../tree/node_view.ts";
export type { ValueType } from "../codecs/values/value_type.ts";
export type { Field, ReadSamplesOptions } from "../tree/samples/samples.ts";
export type { BatchReadOptions } from "../io/read/read_memory.ts";
export type { ByteSource, WaitOptions } from "../io/storage/byte_source.ts";
export type { RemoteOptions } from "../io/remote/remote_options.ts";
export type { LocationOptions } from "../io/storage/stored_location.ts";
export { MemoryStorage } from "../io/storage/memory_storage.ts";
export { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
export { runAsync, type Steps } from "../io/concurrency/steps.ts";
