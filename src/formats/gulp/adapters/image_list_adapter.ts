import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import { join } from "./find_files.ts";
import {
  frameSizeOption,
  IMAGE_OPTIONS,
  imageFrames,
  type ImageOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import { LabelledAdapter, type LabelledVideo } from "./labelled_adapter.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";
import { readTrimmedLines } from "./read_lists.ts";

/** Options of {@linkcode ImageListAdapter}. */
export interface ImageListOptions
  extends ListedOptions, Omit<ImageOptions, "shortEdge"> {
  /** The list. */
  readonly inputFile: string | URL;
  /** What the paths in the list start from; the working directory unless given. */
  readonly rootFolder?: string | URL | undefined;
  /** Short edge of the images in pixels; -1 unless given: they keep their size. */
  readonly imgSize?: number | undefined;
}

/** An image of a list. */
export interface ListedImage extends LabelledVideo {
  /** Its path, as the list has it. */
  readonly path: string;
}

/**
 * Images by a list, `path,label` in each line; each becomes a video of one frame. JPEGs that need no
 * resizing are stored as they are.
 *
 * Its id is `label-path` from the last slash on, so `label-name.jpg` where the path has no directory, and
 * else `name.jpg`. The label follows the last comma of the line, so that paths may have commas; blanks
 * around the comma count, as they do in Python: ` cat` is another label than `cat`. The meta data are `id`, `label` and `idx`, the label's number.
 */
export class ImageListAdapter extends LabelledAdapter<ListedImage> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "inputFile",
      type: "string",
      positional: true,
      description: "List of the images, `path,label` in each line",
    },
    {
      name: "rootFolder",
      type: "string",
      default: "",
      description: "Directory of the paths in the list",
    },
    frameSizeOption("imgSize"),
    ...IMAGE_OPTIONS,
    ...LISTED_OPTIONS,
  ];

  readonly #options: ImageListOptions;
  readonly #root: string;

  /** Reads the list. */
  constructor(options: ImageListOptions) {
    super(options, () => readImages(localPath(options.inputFile)));
    this.#options = options;
    this.#root = localPath(options.rootFolder ?? "");
  }

  /** The image. */
  protected override framesOf(
    { path }: ListedImage,
    options: WaitOptions,
  ): Frames {
    const { imgSize: shortEdge = -1, reencode, codec } = this.#options;
    const paths = [join(this.#root, path)];
    return imageFrames(paths, { shortEdge, reencode, codec }, options);
  }
}

function readImages(list: string): ListedImage[] {
  const images: ListedImage[] = [];
  for (const [i, line] of readTrimmedLines(list).entries()) {
    if (line === "") continue;
    const comma = line.lastIndexOf(",");
    if (comma < 0) {
      throw inputError(list, `line ${i + 1} has no label: give \`path,label\``);
    }
    const path = line.slice(0, comma);
    const label = line.slice(comma + 1);
    const id = `${label}-${path}`;
    images.push({ id: id.slice(id.lastIndexOf("/") + 1), label, path });
  }
  return images;
}
