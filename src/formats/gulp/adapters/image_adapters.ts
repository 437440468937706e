import { filesByFolder, join, soughtByFolder } from "./find_files.ts";
import {
  imageFrames,
  type ImageOptions,
  imageOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LabelledAdapter,
  type LabelledVideo,
  LISTED_OPTIONS,
  type ListedOptions,
} from "./listed_adapter.ts";
import {
  type AdapterOption,
  option,
  type OptionsOf,
  place,
} from "./options.ts";
import { readTrimmedLines } from "./read_lists.ts";

/**
 * Images in directories named by label, `FOLDER/LABEL/*.jpg`, at any depth. Each becomes a video of one frame. JPEGs
 * that need no resizing are stored unchanged.
 *
 * Ids are `LABEL-NAME`. Metadata: `id`, `label`, `path` (of the directory) and `idx`, the label's number. `folder` may
 * end in a slash.
 */
export class ImageFolderAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("folder", "Directory of the images, FOLDER/LABEL/NAME.jpg"),
    option(
      "fileExtensions",
      "strings",
      [".jpg", ".png"],
      "Suffix of the images",
    ),
    ...imageOptions("imgSize"),
    ...LISTED_OPTIONS,
  ];

  /** Lists the images. */
  constructor(
    options: ListedOptions & ImageOptions & {
      /** Directory of the images. */
      readonly folder: string | URL;
      /** Endings of image names; `.jpg` and `.png` by default. */
      readonly fileExtensions?: readonly string[] | undefined;
      /** Short edge of the images in pixels; -1, the default, keeps their size. */
      readonly imgSize?: number | undefined;
    },
  ) {
    super(options, {
      options: ImageFolderAdapter.options,
      list: (
        { folder, fileExtensions }: OptionsOf<typeof ImageFolderAdapter>,
      ) => filesByFolder(folder, fileExtensions!),
      frames: imageFrames(),
      sought: (
        { folder, fileExtensions }: OptionsOf<typeof ImageFolderAdapter>,
      ) => soughtByFolder("images", folder, fileExtensions!),
    });
  }
}

/**
 * Images in a list, `path,label` in each line. Each becomes a video of one frame. JPEGs that need no resizing are
 * stored unchanged.
 *
 * The id is `label-path` after its last slash: `label-name.jpg` if the path has no directory, otherwise `name.jpg`. The
 * label follows the last comma of the line, so paths may contain commas. Blanks around the comma count, as in Python: `
 * cat` and `cat` are different labels. Metadata: `id`, `label` and `idx`, the label's number.
 */
export class ImageListAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
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
  constructor(
    options: ListedOptions & ImageOptions & {
      /** List of the images. */
      readonly inputFile: string | URL;
      /** Base directory of the paths in the list; the working directory by default. */
      readonly rootFolder?: string | URL | undefined;
      /** Short edge of the images in pixels; -1, the default, keeps their size. */
      readonly imgSize?: number | undefined;
    },
  ) {
    super(options, {
      options: ImageListAdapter.options,
      list: ({ inputFile, rootFolder }: OptionsOf<typeof ImageListAdapter>) =>
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
      sought: ({ inputFile }: OptionsOf<typeof ImageListAdapter>) =>
        `images listed in ${inputFile}`,
    });
  }
}
