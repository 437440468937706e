import { filesBelow, withoutSlash } from "./find_files.ts";
import type { LabelledVideo } from "./labelled_adapter.ts";

/** A file whose label is the directory that it lies in. */
export interface FolderFile extends LabelledVideo {
  /** The directory, as the adapter was given it. */
  readonly directory: string;
  /** The file. */
  readonly path: string;
}

/**
 * The files below a directory, at any depth, each labelled by the name of its directory; the id is
 * `label-name`.
 */
export function filesByFolder(
  folder: string,
  extensions: readonly string[],
): FolderFile[] {
  return filesBelow(withoutSlash(folder), extensions).map((path) => {
    const slash = path.lastIndexOf("/");
    const directory = path.slice(0, Math.max(slash, 0));
    const label = directory.slice(directory.lastIndexOf("/") + 1);
    const id = `${label}-${path.slice(slash + 1)}`;
    return { id, label, directory, path };
  });
}
