import type { JsonValue } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import {
  frameSizeOption,
  IMAGE_OPTIONS,
  imageFrames,
  type ImageOptions,
} from "./frame_sources.ts";
import { LabelledAdapter } from "./labelled_adapter.ts";
import { filesByFolder, type FolderFile } from "./labelled_folder.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";

/** What is gulped unless extensions are given. */
const EXTENSIONS = [".jpg", ".png"];

/** Options of {@linkcode ImageFolderAdapter}. */
export interface ImageFolderOptions
  extends ListedOptions, Omit<ImageOptions, "shortEdge"> {
  /** Directory of the images. */
  readonly folder: string | URL;
  /** How names of images end; `.jpg` or `.png` unless given. */
  readonly fileExtensions?: readonly string[] | undefined;
  /** Short edge of the images in pixels; -1 unless given: they keep their size. */
  readonly imgSize?: number | undefined;
}

/**
 * Images in directories named by their labels, `FOLDER/LABEL/*.jpg`, at any depth; each becomes a
 * video of one frame. JPEGs that need no resizing are stored as they are.
 *
 * Ids are `LABEL-NAME`; the meta data are `id`, `label`, `path` (of the directory) and `idx`, the
 * label's number. A directory may be given with or without a slash at its end.
 */
export class ImageFolderAdapter extends LabelledAdapter<FolderFile> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of the images, FOLDER/LABEL/NAME.jpg",
    },
    {
      name: "fileExtensions",
      type: "strings",
      default: EXTENSIONS,
      description: "How names of images end",
    },
    frameSizeOption("imgSize"),
    ...IMAGE_OPTIONS,
    ...LISTED_OPTIONS,
  ];

  readonly #options: ImageFolderOptions;

  /** Lists the images. */
  constructor(options: ImageFolderOptions) {
    const { fileExtensions = EXTENSIONS } = options;
    super(
      options,
      () => filesByFolder(localPath(options.folder), fileExtensions),
    );
    this.#options = options;
  }

  /** The id, the label, the directory and the label's number. */
  protected override metaOf(
    image: FolderFile,
  ): { readonly [key: string]: JsonValue } {
    const { id, label, idx } = super.metaOf(image);
    return { id: id!, label: label!, path: image.directory, idx: idx! };
  }

  /** The image. */
  protected override framesOf(
    { path }: FolderFile,
    options: WaitOptions,
  ): Frames {
    const { imgSize: shortEdge = -1, reencode, codec } = this.#options;
    return imageFrames([path], { shortEdge, reencode, codec }, options);
  }
}
