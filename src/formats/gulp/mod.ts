/**
 * GulpIO and GulpIO2 containers: `GulpDirectory` and `GulpChunk`, as in Python.
 *
 * @module
 */
export { GulpDirectory } from "./read/directory.ts";
export { GulpChunk } from "./read/chunk.ts";
export type { VideoId } from "./ids/id_text.ts";
export type { IterateOptions } from "./ids/video_order.ts";
export type {
  DecodeChoice,
  FrameDecoder,
  FrameOf,
  GulpOptions,
  RawVideo,
  Video,
} from "./read/decoding.ts";
export {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterRecipe,
  type ChunkSlice,
  type DatasetAdapter,
} from "./adapters/dataset_adapter.ts";
export type {
  AdapterOption,
  AdapterOptions,
  AdapterOptionType,
  AdapterOptionValue,
  Completed,
} from "./adapters/options.ts";
export {
  type DataSet,
  LabelledAdapter,
  type LabelledVideo,
  ListedAdapter,
  type ListedOptions,
  type ListedVideo,
} from "./adapters/listed_adapter.ts";
export type { FoundFile } from "./adapters/find_files.ts";
export type {
  FrameFile,
  ImageOptions,
  VideoOptions,
} from "./adapters/frame_sources.ts";
export type { Label } from "./adapters/label_numbers.ts";
export * from "./adapters/custom20bn_adapters.ts";
export * from "./adapters/image_adapters.ts";
export * from "./adapters/video_adapters.ts";
export { makeAdapter } from "./adapters/load_adapter.ts";
export {
  calculateChunkSlices,
  type ChunkReport,
  ChunkWriter,
  type ChunkWriterOptions,
  type FailedVideo,
} from "./write/chunk_writer.ts";
export type { FrameData, Frames } from "./write/frame_data.ts";
export { GulpIngestor } from "./ingest/gulp_ingestor.ts";
export * from "./ingest/ingest_report.ts";
export * from "./read/frame_memory.ts";
export type { FrameSelection, FrameSlice } from "./read/frame_selection.ts";
export type { LazyMap } from "./meta/lazy_map.ts";
export { UnknownIdError } from "./check/faults.ts";
export * from "./check/repair.ts";
export * from "./meta/serializer.ts";
export { type JsonValue, parseJson } from "../../codecs/json/value.ts";
