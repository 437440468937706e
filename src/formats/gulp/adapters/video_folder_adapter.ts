import type { JsonValue } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import {
  frameRateOption,
  frameSizeOption,
  framesOfVideo,
} from "./frame_sources.ts";
import { LabelledAdapter } from "./labelled_adapter.ts";
import { filesByFolder, type FolderFile } from "./labelled_folder.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";

/** What is gulped unless extensions are given. */
const EXTENSIONS = [".mp4", ".webm"];

/** Options of {@linkcode VideoFolderAdapter}. */
export interface VideoFolderOptions extends ListedOptions {
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** How names of videos end; `.mp4` or `.webm` unless given. */
  readonly fileExtensions?: readonly string[] | undefined;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; all unless given. */
  readonly frameRate?: number | undefined;
}

/**
 * Videos in directories named by their labels, `FOLDER/LABEL/*.mp4`, at any depth.
 *
 * Ids are `LABEL-NAME`; the meta data are `id`, `label`, `path` (of the directory) and `idx`, the
 * label's number. A directory may be given with or without a slash at its end.
 */
export class VideoFolderAdapter extends LabelledAdapter<FolderFile> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of the videos, FOLDER/LABEL/NAME.mp4",
    },
    {
      name: "fileExtensions",
      type: "strings",
      default: EXTENSIONS,
      description: "How names of videos end",
    },
    frameSizeOption("frameSize"),
    frameRateOption(0),
    ...LISTED_OPTIONS,
  ];

  readonly #options: VideoFolderOptions;

  /** Lists the videos. */
  constructor(options: VideoFolderOptions) {
    const { fileExtensions = EXTENSIONS } = options;
    super(
      options,
      () => filesByFolder(localPath(options.folder), fileExtensions),
    );
    this.#options = options;
  }

  /** The id, the label, the directory and the label's number. */
  protected override metaOf(
    video: FolderFile,
  ): { readonly [key: string]: JsonValue } {
    const { id, label, idx } = super.metaOf(video);
    return { id: id!, label: label!, path: video.directory, idx: idx! };
  }

  /** The frames of the video. */
  protected override framesOf(
    { path }: FolderFile,
    options: WaitOptions,
  ): Frames {
    return framesOfVideo(path, this.#options, options);
  }
}
