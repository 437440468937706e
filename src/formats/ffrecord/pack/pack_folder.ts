import * as path from "node:path";
import type { Directory } from "../../../io/directories/directory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { openDirectory } from "../../../io/directories/open_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { temporaryTarget } from "../../../io/write/temporaries.ts";
import { findTarget } from "../../../io/write/write_target.ts";
import { requireRoom } from "./pack_listing.ts";
import {
  isLeftOut,
  namingFolder,
  type PackProblem,
  problemsError,
} from "./pack_problem.ts";
import { type PackReader, PackReaderHere } from "./pack_reader.ts";
import { writePacked } from "./pack_samples.ts";
import { PackThread } from "./pack_thread.ts";
import { walkFolder } from "./pack_walk.ts";
import {
  isInParts,
  recordFilePath,
  requireParts,
} from "../write/record_paths.ts";

/** So many files are worth starting another thread. */
const WORTH_A_THREAD = 1000;

/** How far a folder is packed. */
export interface PackProgress {
  /** Files packed. */
  readonly files: number;
  /** Their bytes. */
  readonly bytes: number;
  /** Files to pack. */
  readonly totalFiles: number;
  /** Their bytes. */
  readonly totalBytes: number;
}

/** Options of {@linkcode packFolder}. */
export interface PackOptions extends WaitOptions {
  /** How many files to spread the folder over. Defaults to the file `out` itself. */
  readonly parts?: number | undefined;
  /**
   * Whether an entry is packed; a directory that is not is not entered. `path` is relative to the
   * folder, `name` its last part, `depth` 1 for the folder's own entries. It is asked in the order of a walk, each
   * directory before what is in it; what a symbolic link points to decides whether it is a directory.
   */
  readonly filter?:
    | ((entry: {
      path: string;
      name: string;
      depth: number;
      isDirectory: boolean;
    }) => boolean)
    | undefined;
  /** Whether directories are packed in which there is nothing (else) to pack. Defaults to `true`. */
  readonly emptyDirectories?: boolean | undefined;
  /**
   * Told of each entry that can't be packed; it is left out then. Without it, packing ends with
   * an error that lists them all, before anything is written.
   */
  readonly onProblem?: ((problem: PackProblem) => void) | undefined;
  /** Whether to wait until what was packed is on the disk: see {@linkcode WriterOptions.sync}. Defaults to `true`. */
  readonly sync?: boolean | undefined;
  /** Told how far it is, every few milliseconds and at the end. */
  readonly onProgress?: ((progress: PackProgress) => void) | undefined;
}

/** What was packed. */
export interface PackReport {
  /** Number of files. */
  readonly files: number;
  /** Number of directories, not counting the folder itself. */
  readonly directories: number;
  /** Bytes of all files together. */
  readonly bytes: number;
  /** The files written, in their order. */
  readonly paths: readonly string[];
  /** What was left out. What `filter` refused is not among it. */
  readonly skipped: readonly PackProblem[];
}

/**
 * Packs a directory as Python's `pack_folder` does: its files are samples, in the order of their
 * paths, and the last sample holds the names. {@linkcode PackedFolder} reads it, and so does Python.
 *
 * Symbolic links are followed, to files and to directories. Sockets, pipes and devices, links to
 * nowhere or in circles, and what can't be read are problems: see {@linkcode PackOptions.onProblem}.
 * A file that vanishes, or changes while it is packed, ends the packing. `out` itself, if it lies in
 * the folder, is left out.
 *
 * Names are packed byte for byte. Names that are not UTF-8, and paths longer than the system's limit
 * (4,096 bytes), take `--allow-ffi` and Linux with the GNU C library. Files are read without waiting
 * for each, in turns of a few milliseconds.
 *
 * @param dir The directory.
 * @param out The file, which ends in `.ffr`; one of that name is replaced. With several `parts`, or with
 * one and another name, a directory, new or empty, for `PART_00000.ffr` …: there may be fewer than
 * asked for.
 * @returns What was packed, once it is on the disk under its name, unless that is not to be waited for.
 * @throws {PackError} If the folder can't be read as it is.
 * @throws {WriteError} If `out` can't be written. In all cases nothing is left of it.
 *
 * @example Pack a directory
 * ```ts
 * import { PackedFolder, packFolder } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * const dir = await Deno.makeTempDir();
 * await Deno.mkdir(`${dir}/data/train`, { recursive: true });
 * await Deno.writeTextFile(`${dir}/data/train/001.txt`, "hello");
 *
 * const report = await packFolder(`${dir}/data`, `${dir}/data.ffr`);
 * assert.equal(report.files, 1);
 *
 * using folder = await PackedFolder.open(`${dir}/data.ffr`);
 * const bytes = await folder.readOne("train/001.txt");
 * assert.equal(new TextDecoder().decode(bytes), "hello");
 * ```
 */
export async function packFolder(
  dir: string | URL,
  out: string | URL,
  options: PackOptions = {},
): Promise<PackReport> {
  const { parts = 1, signal } = options;
  requireParts(parts);
  signal?.throwIfAborted();
  const target = localPath(out);
  const isOne = !isInParts(target, options.parts);
  if (isOne) recordFilePath(target);
  const folder = localPath(dir);
  const root = namingFolder(folder, () => openDirectory(folder));
  /** Reads what is listed while more is; the files of several parts are read when it is known how many there are. */
  let thread: PackThread | undefined;
  let reader: PackReader | undefined;
  try {
    const problems: PackProblem[] = [];
    const skipped: PackProblem[] = [];
    const listing = await walkFolder(root, {
      ...options,
      isOutput: await outputFinder(target),
      onProblem(problem) {
        if (!isLeftOut(problem)) {
          if (options.onProblem === undefined) problems.push(problem);
          else options.onProblem(problem);
        }
        skipped.push(problem);
      },
      onListed(listing) {
        if (!isOne || listing.files < WORTH_A_THREAD) return;
        thread ??= PackThread.start(root);
        thread?.tell(listing, listing.settled);
      },
    });
    if (problems.length > 0) throw problemsError(folder, problems);
    requireRoom(folder, listing);
    thread?.tell(listing, "whole");
    reader = thread ?? new PackReaderHere(root, listing);
    const paths = await writePacked(reader, listing, target, options);
    const { files, folders: directories, bytes } = listing;
    return { files, directories, bytes, paths, skipped };
  } finally {
    await (reader ?? thread)?.close();
    root.close();
  }
}

/** Recognises what is to be written, and what killed processes left of it, wherever links lead. */
async function outputFinder(
  target: string,
): Promise<(directory: Directory, name: string) => boolean> {
  const real = (await runAsync(findTarget(target))).path;
  const places = [target, real].map((file) => {
    const name = path.basename(file);
    const directory = openDirectory(path.dirname(file));
    const parent = directory.identity;
    directory.close();
    return { name, parent };
  });
  return (directory, name) =>
    places.some((place) =>
      place.parent === directory.identity &&
      (name === place.name || temporaryTarget(name) === place.name)
    );
}
