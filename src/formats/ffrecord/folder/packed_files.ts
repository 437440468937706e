import { newSharedMemory } from "../../../io/libc/new_memory.ts";
import { FormatError } from "../../../base/errors.ts";
import { optionText } from "../../../base/named_option.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";
import { lostError } from "../../../tree/samples/open_shards.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { AS_SAMPLES, type OpenAs, openAs, PACKED_FOLDER } from "../kinds.ts";
import { sampleContainer, showFiles } from "../tree/tree.ts";
import { readSample } from "../read/read_samples.ts";
import {
  openedAs,
  type OpenOptions,
  type RecordFiles,
  type RecordLocation,
} from "../read/record_files.ts";
import {
  buildNameTable,
  notPacked,
  readStructure,
  type Structure,
} from "./structure.ts";
import { endsInStructure } from "./structure_magic.ts";

/** Opened `.ffr` files that form one packed folder. */
export interface PackedFiles {
  readonly files: RecordFiles;
  readonly names: NameTable;
}

/**
 * Opens a packed folder. Its structure is the last sample, so several files can form one folder, as Python's
 * `PackedFolder(directory)` reads them.
 */
export function openPackedFiles(
  location: RecordLocation,
  options: OpenOptions,
): Steps<PackedFiles> {
  return openedAs(location, options, function* (files) {
    const { index } = files;
    const last = index.length - 1;
    if (last < 0) throw notPacked(index.name);
    if (index.lost.length > 0) throw lostError(index.lost[0]!);
    // A plain file's last sample may be gigabytes: check its start before reading it.
    if (!(yield* endsInStructure(files, last))) {
      throw notPacked(index.shards[index.shardOf(last)]!.path);
    }
    const structure = yield* readStructureAt(files, 0, last, options);
    return { files, names: buildNameTable([{ structure, folder: undefined }]) };
  });
}

/** Opens files: packed folders as their directories, others as numbered samples. */
export function openFFRecord(
  location: RecordLocation,
  options: ContainerOptions,
): Steps<Container> {
  return openedAs(location, options, (files) => containerOf(files, options));
}

export function* containerOf(
  files: RecordFiles,
  options: ContainerOptions,
): Steps<Container> {
  const packed = yield* packedNames(files, openAs(options), options);
  return packed === undefined
    ? sampleContainer(files, options)
    : showFiles(files, packed.names, packed.kind, options);
}

/**
 * Reads the names of the samples, and determines the kind of container: one packed folder, which may be spread over all
 * files, or one packed folder per file. Returns `undefined` for plain samples.
 *
 * @throws {FormatError} If they must be packed folders and are not, or if a structure is damaged or does not match the
 * files.
 */
export function* packedNames(
  files: RecordFiles,
  as: OpenAs,
  options: OpenOptions,
): Steps<{ readonly names: NameTable; readonly kind: string } | undefined> {
  if (as === "samples") return undefined;
  const { index } = files;
  if (index.length === 0 || !(yield* lastIsStructure(files))) {
    if (as === "packed") throw notPacked(index.name);
    return undefined;
  }
  const [lost] = index.lost;
  const areSeveral = index.shards.length > 1 || lost !== undefined;
  const { areAll, fault } = areSeveral
    ? yield* packedParts(files)
    : { areAll: false, fault: undefined };
  if (areAll) {
    try {
      const names = yield* namesOfParts(files, options);
      return { names, kind: "directory of packed folders" };
    } catch (error) {
      // The remaining files may be parts of one folder that was spread over all files.
      const isRest = lost !== undefined && error instanceof FormatError;
      throw isRest ? lostError(lost) : error;
    }
  }
  if (lost !== undefined) throw lostError(lost); // it holds files of the folder
  const last = index.length - 1;
  const structure = yield* readStructureAt(files, 0, last, options);
  const names = buildNameTable([{ structure, folder: undefined }]);
  if (areSeveral) refuseMixture(files, names, structure.path, fault);
  return { names, kind: PACKED_FOLDER };
}

function* lastIsStructure(files: RecordFiles): Steps<boolean> {
  try {
    return yield* endsInStructure(files, files.index.length - 1);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    // Falling back to numbered samples would be a surprise if there were names before the damage.
    throw new FormatError(
      error.code,
      `${error.message}. It may have been a packed folder, whose list of files is at its end: ` +
        `show the remaining samples with ${optionText(AS_SAMPLES)}`,
      { ...error, namedOptions: [AS_SAMPLES], cause: error },
    );
  }
}

/**
 * Determines whether each file is a packed folder of its own.
 *
 * @returns Also the error of a damaged file, if that may be part of a folder spread over several files.
 * @throws {FormatError} If a file is damaged, and two others are packed folders.
 */
function* packedParts(
  files: RecordFiles,
): Steps<{ readonly areAll: boolean; readonly fault?: FormatError }> {
  const { index } = files;
  let fault: FormatError | undefined;
  let packed = 0;
  for (const [part, { count }] of index.shards.entries()) {
    if (count === 0) return { areAll: false };
    try {
      const last = index.firsts[part]! + count - 1;
      if (!(yield* endsInStructure(files, last))) return { areAll: false };
      packed++;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      fault ??= error;
    }
  }
  if (fault === undefined) return { areAll: true };
  if (packed > 1) throw fault;
  return { areAll: false, fault };
}

function* namesOfParts(
  files: RecordFiles,
  options: OpenOptions,
): Steps<NameTable> {
  const { index } = files;
  const placed = [];
  for (const [part, { path, count }] of index.shards.entries()) {
    const first = index.firsts[part]!;
    const last = first + count - 1;
    const structure = yield* readStructureAt(files, first, last, options);
    placed.push({ structure, folder: folderName(path) });
  }
  return buildNameTable(placed);
}

function folderName(file: string): string {
  const name = process.getBuiltinModule("node:path").basename(file);
  return name === ".ffr" ? name : name.slice(0, -".ffr".length);
}

/**
 * Rejects a mixture: in a folder spread over files, every sample but the last is one of its files. Otherwise the last
 * file is a packed folder among others, and its indices refer to its own samples.
 *
 * @param fault Error of a file of which it is unknown whether it is a packed folder.
 */
function refuseMixture(
  files: RecordFiles,
  { columns: { refs, directoryEntries } }: NameTable,
  path: string,
  fault: FormatError | undefined,
): void {
  const named = refs.length - directoryEntries.length;
  const samples = files.index.length - 1;
  if (named === samples) return;
  if (fault !== undefined) throw fault;
  throw new FormatError(
    "bad-structure",
    `Cannot open ${path}: it names ${named} files, but it and the .ffr ` +
      `files before it hold ${samples} samples, so they are not one ` +
      "packed folder. Open them one by one",
    { path, expected: samples, actual: named },
  );
}

/** Reads the structure in sample `last`, which `endsInStructure` has checked; its indices start at sample `first`. */
function* readStructureAt(
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
    (length) => new Uint8Array(newSharedMemory(length)),
  );
  const { path } = index.shards[index.shardOf(last)]!;
  return readStructure(sample, path, last - first, first);
}
