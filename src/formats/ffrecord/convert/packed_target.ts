import {
  ConversionError,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import type { TreeEntry } from "../../../convert/from/file_tree.ts";
import { content } from "../../../convert/to/folder.ts";
import type { ConversionTarget } from "../../../convert/to/target.ts";
import { packEntries } from "../pack/pack_entries.ts";
import { packFolder } from "../pack/pack_folder.ts";
import { isInParts } from "../write/parts.ts";
import { FILES_OF_IT, formOfFile } from "./file_form.ts";

/** Anything to a packed folder, as a mount shows it. */
export const packedTarget: ConversionTarget = {
  options: ["parts"],
  content: FILES_OF_IT,
  form: formOfFile,
  async plan(source, target, { parts }) {
    const notes = new PlanNotes();
    source.noteFiles(notes);
    const common = {
      from: source.what,
      notes,
      to: "an FFRecord packed folder",
      unit: "files" as const,
    };
    if (source.isFolder) {
      return {
        ...common,
        write: (run) => packOnDisk(source.path, target, parts, run),
      };
    }
    if (isInParts(target, parts)) {
      throw new ConversionError(
        "bad-option",
        "The option `parts` is for folders on disk, and for samples: leave it out",
        source.path,
      );
    }
    const files = await source.files();
    const tree = {
      location: files.location,
      walk: files.walk,
      read: (entry: TreeEntry, options: { signal?: AbortSignal | undefined }) =>
        content(files, entry, options),
    };
    return {
      ...common,
      write: (run) =>
        packEntries(tree, target, (done) => run.tell(done), {
          signal: run.signal,
        }),
    };
  },
};

async function packOnDisk(
  path: string,
  target: string,
  parts: number | undefined,
  run: Run,
): Promise<number> {
  const { files } = await packFolder(path, target, {
    parts,
    signal: run.signal,
    onProgress: ({ files }) => run.tell(files),
  });
  return files;
}
