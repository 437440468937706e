import { untold } from "../../../io/write/writer_base.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import {
  ConversionError,
  type ConvertOptions,
  PlanNotes,
} from "../../../convert/conversion.ts";
import type { FileTree } from "../../../convert/from/file_tree.ts";
import { recordsFrom } from "../../../convert/from/record_list.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
  type TargetForm,
} from "../../../convert/to/target.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { packFolder } from "../pack/pack_folder.ts";
import { PackListing, requireRoom } from "../pack/pack_listing.ts";
import { dump, dumpParts } from "../write/dump.ts";
import { isInParts, recordFilePath } from "../write/record_paths.ts";
import { FFRecordWriter } from "../write/writer.ts";

const PARTS: NamedOption = { name: "parts" };

/** Common part of both targets: each is a file, or a directory of files. */
const FILES = {
  options: ["parts"],
  content: {
    what: "FFRecord files",
    isOwn: (name: string) => name.endsWith(".ffr"),
  },
  form(path: string, { parts }: ConvertOptions): TargetForm {
    if (isInParts(path, parts)) return DIRECTORY;
    recordFilePath(path);
    return FILE;
  },
} as const;

/** Converts anything to a packed folder, as a mount shows it. */
export const packedTarget: ConversionTarget = {
  ...FILES,
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
        async write(run) {
          const { signal } = run;
          const onProgress = ({ files }: { files: number }) => run.tell(files);
          const options = { parts, signal, onProgress };
          return (await packFolder(source.path, target, options)).files;
        },
      };
    }
    if (isInParts(target, parts)) {
      throw new ConversionError(
        "bad-option",
        `Cannot convert ${source.path} in parts: only folders on disk and samples can be. Remove ${
          optionText(PARTS)
        }`,
        source.path,
        [],
        undefined,
        [PARTS],
      );
    }
    const files = await source.files();
    return {
      ...common,
      write: (run) =>
        packEntries(files, target, (done) => run.tell(done), {
          signal: run.signal,
        }),
    };
  },
};

/**
 * Packs files of any origin, in their order, and returns their number. Replaces an existing target once everything is
 * written. Calls `onFile` after each file with the number packed.
 *
 * @throws {PackError} If there are more files than a packed folder has room for.
 * @throws {WriteError} If it cannot be written.
 */
export async function packEntries(
  files: FileTree,
  target: string,
  onFile: (files: number) => void,
  options: WaitOptions,
): Promise<number> {
  const listing = await listEntries(files, options);
  requireRoom(files.location, listing);
  const count = listing.files + 1;
  await using writer = untold(
    await FFRecordWriter.open(target, { ...options, count }),
  );
  for await (const batch of files.contents(options)) {
    for (const { content } of batch.files) {
      if (content === undefined) continue;
      await writer.write(content, options);
      onFile(writer.length);
    }
  }
  const structure = ReadableStream.from(writeStructure(listing));
  await writer.write(structure, options);
  await writer.close(options);
  return listing.files;
}

async function listEntries(
  files: FileTree,
  options: WaitOptions,
): Promise<PackListing> {
  const listing = new PackListing();
  let open = 0;
  const leaveTo = (wanted: number) => {
    for (; open > wanted; open--) listing.endFolder();
  };
  for await (const { name, depth, isDirectory } of files.walk(options)) {
    leaveTo(depth - 1);
    if (!isDirectory) listing.addFile(name, 0);
    else {
      listing.startFolder(name);
      open++;
    }
  }
  leaveTo(0);
  return listing;
}

/** Converts anything to plain FFRecord samples. */
export const samplesTarget: ConversionTarget = {
  ...FILES,
  makesParents: true, // creates the parent directories of parts
  async plan(source, target, options) {
    const { parts, signal, onWarning } = options;
    const { list, isByIndex, notes } = await recordsFrom(source, options);
    const inParts = isInParts(target, parts);
    // Parts are written in parallel, but files arrive one after the other.
    if (!isByIndex && parts !== undefined && parts > 1) {
      throw new ConversionError(
        "bad-option",
        `Cannot convert ${source.path} in parts: files that become samples are written to one file. Remove ${
          optionText(PARTS)
        }`,
        source.path,
        [],
        undefined,
        [PARTS],
      );
    }
    return {
      from: source.what,
      to: "FFRecord samples",
      notes,
      unit: "samples",
      total: list.length,
      async write(run) {
        const onProgress = (done: number) => run.tell(done);
        const told = { signal, onWarning, onProgress };
        if (inParts) await dumpParts(list, target, parts!, told);
        else await dump(list, target, 1, told);
        return list.length;
      },
    };
  },
};
