import { PlanNotes, type Run } from "../../../convert/conversion.ts";
import type { FileTree, TreeEntry } from "../../../convert/from/file_tree.ts";
import { type ConversionTarget, FILE } from "../../../convert/to/target.ts";
import { runAsync, unaborted } from "../../../io/concurrency/steps.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { WriteError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { ZipOutput } from "../write/zip_output.ts";

/** Limit of a 16-bit path length. */
const LONGEST_PATH = 0xffff;

/** Writes any source to a zip with stored contents, which can be read without decompression. */
export const zipTarget: ConversionTarget = {
  options: [],
  form: () => FILE,
  plan(source, target) {
    const notes = new PlanNotes();
    source.noteFiles(notes);
    return {
      from: source.what,
      to: "a zip, stored",
      notes,
      unit: "files",
      write: async (run) => await writeZip(await source.files(), target, run),
    };
  },
};

/** Writes files to a zip, which appears when it is complete; returns their number. */
async function writeZip(
  files: FileTree,
  target: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  const output = await runAsync(NewFile.create(target), signal);
  try {
    const zip = new ZipOutput(output.file, files.mtime);
    let done = 0;
    for await (const batch of files.contents({ signal })) {
      for (const { entry, content } of batch.files) {
        const name = nameOf(entry, run);
        if (name === undefined) continue;
        if (content === undefined) {
          await runAsync(zip.addDirectory(name), signal);
          continue;
        }
        if (content instanceof Uint8Array) {
          await runAsync(zip.addFile(name, content), signal);
        } else {
          const size = await files.size(entry);
          const adding = zip.addStream(name, size, content);
          const written = await runAsync(adding, signal);
          if (written !== size) throw changed(target, size, written);
        }
        run.tell(++done);
      }
    }
    await runAsync(zip.finish(), signal);
    await runAsync(output.file.sync(), signal);
    await runAsync(unaborted(() => output.publish()));
    return done;
  } finally {
    output.discard();
  }
}

function changed(path: string, expected: number, actual: number): WriteError {
  return new WriteError(
    "changed",
    `Cannot write ${path}: a file changed while it was read: it had ` +
      `${expected} bytes, and then ${actual}`,
    { path, expected, actual },
  );
}

function nameOf({ path }: TreeEntry, run: Run): Uint8Array | undefined {
  const name = encodeName(path);
  if (path.isWellFormed() && name.length < LONGEST_PATH) return name;
  const why = path.isWellFormed()
    ? "is longer than 65,535 bytes"
    : "is not UTF-8";
  run.leaveOut(`the path of '${path}' ${why}`);
  return undefined;
}
