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
    const structure = yield* readWholeStructure(files, options);
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

/** Reads the structure that the last sample of all files is, as `endsInStructure` found. */
export function* readWholeStructure(
  files: RecordFiles,
  options: OpenOptions,
): Steps<Structure> {
  const { index } = files;
  const last = index.length - 1;
  return readStructure(
    yield* readStructureSample(files, last, options),
    index.parts[index.partOf(last)]!.path,
    last,
  );
}

/** Reads the structure that the last sample of one file is, as `endsInStructure` found; its indices count that file's samples. */
export function* readPartStructure(
  files: RecordFiles,
  part: number,
  options: OpenOptions,
): Steps<Structure> {
  const { index } = files;
  const { path, count } = index.parts[part]!;
  const first = index.startOf(part);
  return readStructure(
    yield* readStructureSample(files, first + count - 1, options),
    path,
    count - 1,
    first,
  );
}

function readStructureSample(
  files: RecordFiles,
  sample: number,
  options: OpenOptions,
): Steps<Uint8Array> {
  return readSample(
    files,
    sample,
    options.checkData ?? true,
    (length) => new Uint8Array(new SharedArrayBuffer(length)),
  );
}
