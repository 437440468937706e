import type { Steps } from "../../../io/concurrency/steps.ts";
import type { NameTable } from "../../../tree/name_table.ts";
import {
  type OpenOptions,
  openRecordFiles,
  type RecordFiles,
  type RecordLocation,
} from "../read/record_files.ts";
import { endsInStructure } from "./structure_magic.ts";
import { readSample } from "../read/read_samples.ts";
import {
  buildNameTable,
  notPacked,
  readStructure,
  type Structure,
} from "./structure.ts";

/** Opened `.ffr` files that are one packed folder. */
export interface PackedFiles {
  readonly files: RecordFiles;
  readonly names: NameTable;
}

/**
 * Opens a packed folder. Its structure is the last sample of all, so several files make one folder
 * together, as Python's `PackedFolder(directory)` reads them.
 */
export function* openPackedFiles(
  location: RecordLocation,
  options: OpenOptions,
): Steps<PackedFiles> {
  const files = yield* openRecordFiles(location, options);
  try {
    yield* refuseUnpacked(files);
    const last = files.index.length - 1;
    const structure = yield* readStructureAt(files, 0, last, options);
    return { files, names: buildNameTable([{ structure, folder: undefined }]) };
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}

/** A plain file's last sample may be gigabytes: its start is looked at before it is read. */
function* refuseUnpacked(files: RecordFiles): Steps<void> {
  const { index } = files;
  if (index.length === 0) throw notPacked(index.name);
  const last = index.length - 1;
  if (yield* endsInStructure(files, last)) return;
  throw notPacked(index.parts[index.partOf(last)]!.path);
}

/**
 * Reads the structure that a sample is, as `endsInStructure` found.
 *
 * @param first The first sample that it may name: its indices count from there.
 * @param last The structure itself.
 */
export function* readStructureAt(
  files: RecordFiles,
  first: number,
  last: number,
  options: OpenOptions,
): Steps<Structure> {
  const { index } = files;
  const sample = yield* readSample(
    files,
    last,
    options.checkData ?? true,
    (length) => new Uint8Array(new SharedArrayBuffer(length)),
  );
  const { path } = index.parts[index.partOf(last)]!;
  return readStructure(sample, path, last - first, first);
}
