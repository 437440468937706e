/**
 * GulpIO and GulpIO2 containers: `GulpDirectory` and `GulpChunk`, as in Python.
 *
 * @module
 */
export { GulpDirectory } from "./directory.ts";
export { GulpChunk } from "./chunk.ts";
export type { VideoId } from "./id_text.ts";
export type { IterateOptions } from "./video_order.ts";
export type {
  DecodeChoice,
  FrameDecoder,
  FrameOf,
  GulpOptions,
  RawVideo,
  Video,
} from "./decoding.ts";
export {
  AbstractDatasetAdapter,
  ActivitynetAdapter,
  type ActivitynetOptions,
  type ActivitynetVideo,
  type AdaptedVideo,
  type AdapterOption,
  type AdapterOptions,
  type AdapterOptionType,
  type AdapterOptionValue,
  type AdapterRecipe,
  type ChunkSlice,
  type CsvJpegOptions,
  type CsvWebmOptions,
  Custom20BNCsvJpegAdapter,
  Custom20BNCsvWebmAdapter,
  Custom20BNJsonVideoAdapter,
  type DatasetAdapter,
  type FolderFile,
  ImageFolderAdapter,
  type ImageFolderOptions,
  ImageListAdapter,
  type ImageListOptions,
  type ImageOptions,
  type JsonVideoOptions,
  KineticsAdapter,
  type KineticsClip,
  type KineticsOptions,
  type Label,
  LabelledAdapter,
  type LabelledVideo,
  ListedAdapter,
  type ListedImage,
  type ListedLabels,
  type ListedOptions,
  type ListedVideo,
  makeAdapter,
  VideoFolderAdapter,
  type VideoFolderOptions,
} from "./adapters/mod.ts";
export {
  calculateChunkSlices,
  type ChunkReport,
  ChunkWriter,
  type ChunkWriterOptions,
  type FailedVideo,
} from "./chunk_writer.ts";
export type { FrameData, Frames } from "./frame_data.ts";
export { GulpIngestor } from "./ingest/gulp_ingestor.ts";
export { IngestError, type IngestErrorCode } from "./ingest/ingest_error.ts";
export type {
  IngestOptions,
  IngestProgress,
  IngestReport,
} from "./ingest/ingest_report.ts";
export { FrameMemory, type RawReadOptions } from "./frame_memory.ts";
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
export { type JsonValue, parseJson } from "../../codecs/json/value.ts";
export { MsgpackFloat } from "../../codecs/msgpack/value.ts";
export * from "../../codecs/image/mod.ts";
export type { WaitOptions } from "../../io/byte_source.ts";
export {
  type ErrorFacts,
  FormatError,
  type FormatErrorCode,
  IndexError,
  RecordfsError,
  WriteError,
} from "../../errors.ts";
