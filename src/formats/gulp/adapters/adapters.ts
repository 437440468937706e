import {
  Custom20BNCsvJpegAdapter,
  Custom20BNCsvWebmAdapter,
  Custom20BNJsonVideoAdapter,
} from "./custom20bn_adapters.ts";
import type { AdapterClass } from "./dataset_adapter.ts";
import { ImageFolderAdapter, ImageListAdapter } from "./image_adapters.ts";
import {
  ActivitynetAdapter,
  KineticsAdapter,
  VideoFolderAdapter,
} from "./video_adapters.ts";

/** Built-in adapters by command-line name, with a description of their input. */
export const ADAPTERS: ReadonlyMap<string, readonly [AdapterClass, string]> =
  new Map<string, readonly [AdapterClass, string]>([
    ["json-videos", [
      Custom20BNJsonVideoAdapter,
      "20BN: a list in JSON, videos FOLDER/ID/*.mp4",
    ]],
    ["csv-webm", [
      Custom20BNCsvWebmAdapter,
      "20BN: a list in CSV, videos FOLDER/ID.webm",
    ]],
    ["csv-jpeg", [
      Custom20BNCsvJpegAdapter,
      "20BN: a list in CSV, frames FOLDER/ID/*.jpg",
    ]],
    ["image-list", [
      ImageListAdapter,
      "a list of images with their labels",
    ]],
    ["image-folder", [ImageFolderAdapter, "images FOLDER/LABEL/NAME.jpg"]],
    ["video-folder", [VideoFolderAdapter, "videos FOLDER/LABEL/NAME.mp4"]],
    ["activitynet", [
      ActivitynetAdapter,
      "ActivityNet: its JSON file, videos FOLDER/ID.EXTENSION",
    ]],
    ["kinetics", [
      KineticsAdapter,
      "Kinetics: its JSON file, clips FOLDER/LABEL/ID_START_END.mp4",
    ]],
  ]);
