import { packEntries } from "../formats/ffrecord/pack/pack_entries.ts";
import { packFolder } from "../formats/ffrecord/pack/pack_folder.ts";
import { isInParts } from "../formats/ffrecord/write/parts.ts";
import { LABEL_FILE } from "../formats/gulp/read/chunk_files.ts";
import { ExtractTarget } from "../io/write/extract_target.ts";
import { NewDirectory } from "../io/write/new_directory.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "./conversion.ts";
import type { FileTree, TreeEntry } from "./from/file_tree.ts";
import type { Source } from "./from/source.ts";
import { cutIds, listed, lostInFiles } from "./from/video_reader.ts";

/** Larger files are streamed. */
const READ_WHOLE = 8 << 20;

/** Anything to a folder on disk, as a mount shows it. */
export async function toFolder(
  source: Source,
  target: string,
): Promise<Conversion> {
  const files = await source.files();
  const notes = notesOf(source);
  if (source.kind === "videos") {
    notes.changed.push("videos are in the order of their names");
  }
  return {
    from: source.what,
    notes,
    to: "a folder",
    unit: "files",
    write: (run) => writeFolder(files, target, run),
  };
}

/** Anything to a packed folder, as a mount shows it. */
export async function toPacked(
  source: Source,
  target: string,
  { parts }: ConvertOptions,
): Promise<Conversion> {
  const common = {
    from: source.what,
    notes: notesOf(source),
    to: "an FFRecord packed folder",
    unit: "files" as const,
  };
  if (source.kind === "folder") {
    return {
      ...common,
      write: (run) => packOnDisk(source, target, parts, run),
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
}

async function packOnDisk(
  { path }: Source,
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

/** What of a source files show, and what not. */
function notesOf(source: Source): PlanNotes {
  const notes = new PlanNotes();
  switch (source.kind) {
    case "folder":
    case "packed":
      notes.kept.push("names, directories and contents of files");
      if (source.kind === "folder") {
        notes.kept.push("what symbolic links lead to");
      }
      break;
    case "samples":
    case "bag":
      notes.kept.push("contents and their order");
      notes.changed.push(
        `${
          source.kind === "bag" ? "records" : "samples"
        } are files named by their numbers`,
      );
      break;
    case "videos":
      noteVideos(source, notes);
      break;
    case "dataset":
      noteDataset(source, notes);
  }
  return notes;
}

function noteVideos(
  source: Extract<Source, { kind: "videos" }>,
  notes: PlanNotes,
): void {
  notes.kept.push("frames, meta data, ids, numbers of labels");
  notes.changed.push("chunks become one directory");
  notes.lost.push(...lostInFiles(source));
  const cut = [...cutIds(source.reader).keys()];
  if (cut.length > 0) {
    notes.lost.push(
      `ids longer than names can be (${cut.length}), which become ${
        listed(cut)
      }`,
    );
  }
}

function noteDataset(
  { reader, labels }: Extract<Source, { kind: "dataset" }>,
  notes: PlanNotes,
): void {
  const { generation, spec } = reader;
  notes.kept.push("values as bytes, keys, types in spec.json, shards");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  notes.changed.push("values are files named INDEX/KEY");
  const usesFirst = generation === 1 &&
    Object.values(spec).some((type) => /^int\b/.test(type));
  if (usesFirst) {
    notes.changed.push(
      "no file says that numbers have no sign, as in generation 1: give that generation to " +
        "convert the files back",
    );
  }
}
