/**
 * GulpIO and GulpIO2 containers: `GulpDirectory` and `GulpChunk`, as in Python.
 *
 * @module
 */
export { GulpDirectory } from "./directory.ts";
export { GulpChunk, type IterateOptions, type VideoId } from "./chunk.ts";
export type {
  DecodeChoice,
  FrameDecoder,
  FrameOf,
  GulpOptions,
  RawVideo,
  Video,
} from "./decoding.ts";
export type { FrameSelection, FrameSlice } from "./frame_selection.ts";
export type { LazyMap } from "./lazy_map.ts";
export { UnknownIdError } from "./faults.ts";
export {
  type GulpLeftOut,
  type GulpRepairOptions,
  type GulpRepairReport,
  repairGulp,
} from "./repair.ts";
export type {
  FrameInfo,
  GulpSerializer,
  MetaEntries,
  SerializerChoice,
  VideoMeta,
} from "./serializer.ts";
export type { JsonValue } from "../../codecs/json/value.ts";
export * from "../../codecs/image/mod.ts";
export type { WaitOptions } from "../../io/byte_source.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  RecordfsError,
} from "../../errors.ts";
