import { ExtractTarget } from "../../io/unpack/extract_target.ts";
import { FilePlacer } from "../../io/unpack/file_placer.ts";
import { NewDirectory } from "../../io/write/new_directory.ts";
import { PlanNotes, type Run } from "../conversion.ts";
import type { FileTree } from "../from/file_tree.ts";
import { type ConversionTarget, DIRECTORY } from "./target.ts";

/** Converts anything to a folder on disk, with the files that a mount shows. */
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
  const options = {
    replace: false,
    mtime,
    shownAs: target.replace(/(?<=[^/])\/+$/, ""),
    sync: "end",
  } as const;
  using output = new ExtractTarget(temporary, options);
  await using placer = new FilePlacer(output);
  const { rooms } = placer;
  let done = 0;
  for await (const batch of files.contents({ signal, rooms })) {
    const placing = placer.start();
    try {
      for (const { entry, content } of batch.files) {
        if (content === undefined) {
          output.makeDirectory(entry);
          continue;
        }
        if (content instanceof Uint8Array) placing.write(entry, content);
        else await output.writeStream(entry, content);
        run.tell(++done);
      }
    } finally {
      batch.until = placing.end(({ error }) => {
        throw error;
      });
    }
  }
  await placer.complete();
  await output.complete();
  return done;
}
