import { PlanNotes, type Run } from "../../../convert/conversion.ts";
import type { FileTree, TreeEntry } from "../../../convert/from/file_tree.ts";
import { type ConversionTarget, FILE } from "../../../convert/to/target.ts";
import { runAsync, unaborted } from "../../../io/concurrency/steps.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { WriteError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { ZipOutput } from "../write/zip_output.ts";

/** The length of a path has 16 bits. */
const LONGEST_PATH = 0xffff;

/** Anything to a zip whose contents are stored: they are read without decompressing anything. */
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

/** Writes files to a zip, which appears when it is complete; answers how many they are. */
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
          await writeLarge(zip, target, { name, size, content }, signal);
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

async function writeLarge(
  zip: ZipOutput,
  target: string,
  { name, size, content }: {
    readonly name: Uint8Array;
    readonly size: number;
    readonly content: AsyncIterable<Uint8Array>;
  },
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = await runAsync(zip.beginFile(name, size), signal);
  let [crc, written] = [0, 0];
  for await (const piece of content) {
    crc = crc32Of(piece, crc);
    written += piece.length;
    await runAsync(zip.append(piece), signal);
  }
  if (written !== size) {
    throw new WriteError(
      "changed",
      `Cannot write ${target}: a file had ${size} bytes, and then ${written}: it was changed while it was read`,
      { path: target, expected: size, actual: written },
    );
  }
  await runAsync(end(crc), signal);
}

function nameOf({ path }: TreeEntry, run: Run): Uint8Array | undefined {
  const name = encodeName(path);
  if (path.isWellFormed() && name.length < LONGEST_PATH) return name;
  const why = path.isWellFormed()
    ? "is longer than 65,535 bytes"
    : "is no UTF-8";
  run.leaveOut(`the path of '${path}' ${why}`);
  return undefined;
}
