import { packEntries } from "../formats/ffrecord/pack_entries.ts";
import { packFolder } from "../formats/ffrecord/pack_folder.ts";
import { recordFilePath } from "../formats/ffrecord/record_file_path.ts";
import { ExtractTarget } from "../io/extract_target.ts";
import { NewDirectory } from "../io/new_directory.ts";
import { runAsync } from "../io/steps.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "./conversion.ts";
import type { FileTree, TreeEntry } from "./file_tree.ts";
import type { Source } from "./source.ts";

/** What a source is, and what of it files do not show. */
interface Described {
  readonly from: string;
  readonly notes: PlanNotes;
}

/** Larger files are streamed. */
const READ_WHOLE = 8 << 20;

/** Anything to a folder on disk, as a mount shows it. */
export async function toFolder(
  source: Source,
  target: string,
): Promise<Conversion> {
  const files = await source.files();
  return {
    ...describe(source),
    to: "a folder",
    unit: "files",
    write: (run) => writeFolder(files, target, run),
  };
}

/** Anything to a packed folder, as a mount shows it. */
export async function toPacked(
  source: Source,
  target: string,
  { parts = 1 }: ConvertOptions,
): Promise<Conversion> {
  if (parts === 1) recordFilePath(target);
  const common = {
    ...describe(source),
    to: "an FFRecord packed folder",
    unit: "files" as const,
  };
  if (source.kind === "folder") {
    return {
      ...common,
      write: (run) => packOnDisk(source, target, parts, run),
    };
  }
  if (parts > 1) {
    throw new ConversionError(
      "bad-option",
      "Only a folder on disk is packed in parts: leave them out",
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
}

async function packOnDisk(
  { path }: Source,
  target: string,
  parts: number,
  run: Run,
): Promise<number> {
  const { files } = await packFolder(path, target, {
    parts,
    signal: run.signal,
    onProgress: ({ files }) => run.tell(files),
  });
  return files;
}

async function writeFolder(
  files: FileTree,
  target: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  const directory = await runAsync(NewDirectory.create(target), signal);
  try {
    let done = 0;
    {
      const { mtime } = files;
      using output = new ExtractTarget(directory.temporary, {
        replace: false,
        mtime,
        shownAs: target,
      });
      for await (const entry of files.walk({ signal })) {
        if (entry.isDirectory) output.makeDirectory(entry);
        else {
          const bytes = await content(files, entry, { signal });
          if (bytes instanceof Uint8Array) output.write(entry, bytes);
          else await output.writeStream(entry, bytes);
          run.tell(++done);
        }
      }
    }
    signal?.throwIfAborted();
    await runAsync(directory.publish());
    return done;
  } catch (error) {
    throw directory.asPublished(error);
  } finally {
    directory.discard();
  }
}

async function content(
  files: FileTree,
  entry: TreeEntry,
  options: { readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await files.size(entry) > READ_WHOLE
    ? await files.stream(entry, options)
    : await files.read(entry, options);
}

function describe(source: Source): Described {
  const notes = new PlanNotes();
  switch (source.kind) {
    case "folder":
    case "packed":
      notes.kept.push("names, directories and contents of files");
      if (source.kind === "folder") {
        notes.kept.push("what symbolic links lead to");
      }
      return {
        from: source.kind === "folder"
          ? "a folder"
          : "an FFRecord packed folder",
        notes,
      };
    case "samples":
      notes.kept.push("contents and their order");
      notes.changed.push("samples are files named by their numbers");
      return { from: "FFRecord samples", notes };
    case "bag":
      notes.kept.push("contents and their order");
      notes.changed.push("records are files named by their numbers");
      return { from: `a bag of generation ${source.reader.generation}`, notes };
    case "videos":
      notes.kept.push("frames, meta data, ids, numbers of labels");
      notes.changed.push("chunks become one directory");
      return { from: "GulpIO", notes };
    case "dataset":
      return describeDataset(source);
  }
}

function describeDataset(
  { reader }: Extract<Source, { kind: "dataset" }>,
): Described {
  const { generation, spec } = reader;
  const notes = new PlanNotes();
  notes.kept.push("values as bytes, keys, types in spec.json, shards");
  notes.changed.push("values are files named INDEX/KEY");
  const usesFirst = generation === 1 &&
    Object.values(spec).some((type) => /^int\b/.test(type));
  if (usesFirst) {
    notes.changed.push(
      "no file says that numbers have no sign, as in generation 1: give that generation to " +
        "convert the files back",
    );
  }
  return { from: `Bags, generation ${generation}`, notes };
}
