/**
 * Adapters: what makes data sets ready to be gulped, with the originals' names.
 *
 * @module
 */
import { ActivitynetAdapter } from "./activitynet_adapter.ts";
import { Custom20BNCsvJpegAdapter } from "./csv_jpeg_adapter.ts";
import { Custom20BNCsvWebmAdapter } from "./csv_webm_adapter.ts";
import type { AdapterClass } from "./dataset_adapter.ts";
import { ImageFolderAdapter } from "./image_folder_adapter.ts";
import { ImageListAdapter } from "./image_list_adapter.ts";
import { Custom20BNJsonVideoAdapter } from "./json_video_adapter.ts";
import { KineticsAdapter } from "./kinetics_adapter.ts";
import { VideoFolderAdapter } from "./video_folder_adapter.ts";

/** The adapters there are, by the names that command lines give them. */
export const ADAPTERS: ReadonlyMap<string, AdapterClass> = new Map<
  string,
  AdapterClass
>([
  ["json-videos", Custom20BNJsonVideoAdapter],
  ["csv-webm", Custom20BNCsvWebmAdapter],
  ["csv-jpeg", Custom20BNCsvJpegAdapter],
  ["image-list", ImageListAdapter],
  ["image-folder", ImageFolderAdapter],
  ["video-folder", VideoFolderAdapter],
  ["activitynet", ActivitynetAdapter],
  ["kinetics", KineticsAdapter],
]);

export {
  ActivitynetAdapter,
  type ActivitynetOptions,
  type ActivitynetVideo,
} from "./activitynet_adapter.ts";
export {
  type CsvJpegOptions,
  Custom20BNCsvJpegAdapter,
} from "./csv_jpeg_adapter.ts";
export {
  type CsvWebmOptions,
  Custom20BNCsvWebmAdapter,
} from "./csv_webm_adapter.ts";
export {
  ImageFolderAdapter,
  type ImageFolderOptions,
} from "./image_folder_adapter.ts";
export {
  ImageListAdapter,
  type ImageListOptions,
  type ListedImage,
} from "./image_list_adapter.ts";
export {
  Custom20BNJsonVideoAdapter,
  type JsonVideoOptions,
} from "./json_video_adapter.ts";
export {
  KineticsAdapter,
  type KineticsClip,
  type KineticsOptions,
} from "./kinetics_adapter.ts";
export {
  VideoFolderAdapter,
  type VideoFolderOptions,
} from "./video_folder_adapter.ts";
export {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterClass,
  type AdapterRecipe,
  type ChunkSlice,
  type DatasetAdapter,
} from "./dataset_adapter.ts";
export type { ImageOptions } from "./frame_sources.ts";
export type { Label } from "./label_numbers.ts";
export { LabelledAdapter, type LabelledVideo } from "./labelled_adapter.ts";
export type { FolderFile } from "./labelled_folder.ts";
export {
  ListedAdapter,
  type ListedLabels,
  type ListedOptions,
  type ListedVideo,
} from "./listed_adapter.ts";
export { loadAdapterClass, makeAdapter, openAdapter } from "./load_adapter.ts";
export {
  type AdapterOption,
  type AdapterOptions,
  type AdapterOptionType,
  type AdapterOptionValue,
  flagOf,
} from "./options.ts";
