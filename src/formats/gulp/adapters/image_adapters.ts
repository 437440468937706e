import { filesByFolder, type FoundFile, join } from "./find_files.ts";
import {
  imageFrames,
  type ImageOptions,
  imageOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LabelledAdapter,
  LISTED_OPTIONS,
  type ListedOptions,
} from "./listed_adapter.ts";
import { type AdapterOption, option, place } from "./options.ts";
import { readTrimmedLines } from "./read_lists.ts";

/** Options of {@linkcode ImageFolderAdapter}. */
export interface ImageFolderOptions extends ListedOptions, ImageOptions {
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
export class ImageFolderAdapter
  extends LabelledAdapter<ImageFolderOptions, FoundFile> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    place("folder", "Directory of the images, FOLDER/LABEL/NAME.jpg"),
    option(
      "fileExtensions",
      "strings",
      [".jpg", ".png"],
      "How names of images end",
    ),
    ...imageOptions("imgSize"),
    ...LISTED_OPTIONS,
  ];

  /** Lists the images. */
  constructor(options: ImageFolderOptions) {
    super(options, {
      options: ImageFolderAdapter.options,
      list: ({ folder, fileExtensions }) =>
        filesByFolder(folder, fileExtensions!),
      frames: imageFrames(),
    });
  }
}

/** Options of {@linkcode ImageListAdapter}. */
export interface ImageListOptions extends ListedOptions, ImageOptions {
  /** The list. */
  readonly inputFile: string | URL;
  /** What the paths in the list start from; the working directory unless given. */
  readonly rootFolder?: string | URL | undefined;
  /** Short edge of the images in pixels; -1 unless given: they keep their size. */
  readonly imgSize?: number | undefined;
}

/**
 * Images by a list, `path,label` in each line; each becomes a video of one frame. JPEGs that need no
 * resizing are stored as they are.
 *
 * Its id is `label-path` from the last slash on, so `label-name.jpg` where the path has no directory, and
 * else `name.jpg`. The label follows the last comma of the line, so that paths may have commas; blanks
 * around the comma count, as they do in Python: ` cat` is another label than `cat`. The meta data are `id`, `label` and `idx`, the label's number.
 */
export class ImageListAdapter
  extends LabelledAdapter<ImageListOptions, FoundFile> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    place("inputFile", "List of the images, `path,label` in each line"),
    {
      ...option(
        "rootFolder",
        "string",
        "",
        "Directory of the paths in the list",
      ),
      isPath: true,
    },
    ...imageOptions("imgSize"),
    ...LISTED_OPTIONS,
  ];

  /** Reads the list. */
  constructor(options: ImageListOptions) {
    super(options, {
      options: ImageListAdapter.options,
      list: ({ inputFile, rootFolder }) =>
        readTrimmedLines(inputFile).flatMap((line, i) => {
          if (line === "") return [];
          const comma = line.lastIndexOf(",");
          if (comma < 0) {
            const what = `line ${i + 1} has no label: give \`path,label\``;
            throw inputError(inputFile, what);
          }
          const name = line.slice(0, comma);
          const label = line.slice(comma + 1);
          const id = `${label}-${name}`.replace(/^.*\//s, "");
          return [{ id, label, path: join(rootFolder!, name) }];
        }),
      frames: imageFrames(),
    });
  }
}
