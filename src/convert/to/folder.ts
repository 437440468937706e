import { ExtractTarget } from "../../io/write/extract_target.ts";
import { NewDirectory } from "../../io/write/new_directory.ts";
import { PlanNotes, type Run } from "../conversion.ts";
import type { FileTree, TreeEntry } from "../from/file_tree.ts";
import { type ConversionTarget, DIRECTORY } from "./target.ts";

/** Larger files are streamed. */
const READ_WHOLE = 8 << 20;

/** Anything to a folder on disk, as a mount shows it. */
export const folderTarget: ConversionTarget = {
  options: [],
  form: () => DIRECTORY,
  async plan(source, target) {
    const files = await source.files();
    const notes = new PlanNotes();
    source.noteFiles(notes);
    const { folderChange } = source;
    if (folderChange !== undefined) notes.changed.push(folderChange);
    return {
      from: source.what,
      notes,
      to: "a folder",
      unit: "files",
      write: (run) =>
        NewDirectory.write(
          target,
          run.signal,
          (temporary) => writeFolder(files, target, temporary, run),
        ),
    };
  },
};

async function writeFolder(
  files: FileTree,
  target: string,
  temporary: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  const { mtime } = files;
  const options = { replace: false, mtime, shownAs: target };
  using output = new ExtractTarget(temporary, options);
  let done = 0;
  for await (const entry of files.walk({ signal })) {
    if (entry.isDirectory) output.makeDirectory(entry);
    else {
      const bytes = await content(files, entry, { signal });
      if (bytes instanceof Uint8Array) output.write(entry, bytes);
      else await output.writeStream(entry, bytes);
      run.tell(++done);
    }
  }
  return done;
}

/** The content of a file, piece by piece where it is large. */
export async function content(
  files: FileTree,
  entry: TreeEntry,
  options: { readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await files.size(entry) > READ_WHOLE
    ? await files.stream(entry, options)
    : await files.read(entry, options);
}
