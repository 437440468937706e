import * as path from "node:path";
import type { Directory } from "../../../io/dirfd/directory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { openDirectory } from "../../../io/dirfd/open_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { temporaryTarget } from "../../../io/write/temporaries.ts";
import { findTarget } from "../../../io/write/write_target.ts";
import { requireRoom } from "./pack_listing.ts";
import {
  isLeftOut,
  namingFolder,
  type PackError,
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

/** Number of files from which another thread pays off. */
const WORTH_A_THREAD = 1000;

/**
 * Packs a directory as Python's `pack_folder` does: its files are samples, in the order of their paths, and the last
 * sample holds the names. {@linkcode PackedFolder} and Python read it.
 *
 * Follows symbolic links to files and directories. Sockets, pipes and devices, broken or circular links, and unreadable
 * entries are problems: see the option `onProblem`. A file that vanishes or changes during packing aborts it. `out`
 * itself is skipped if it is in the folder.
 *
 * Names are packed byte for byte. Names that are not UTF-8, and paths longer than the system's limit (4,096 bytes),
 * need `--allow-ffi` and Linux with the GNU C library. Files are read synchronously, in slices of a few milliseconds.
 *
 * @param dir The directory.
 * @param out File whose name ends in `.ffr`; an existing one is replaced. With several `parts`, or one part and another
 * name, a directory, new or empty, for `PART_00000.ffr` …, of which there may be fewer than requested.
 * @returns What was packed. Resolves once the output is on disk under its name; `sync: false` does not wait for the
 * disk.
 * @throws {PackError} If the folder cannot be packed as it is.
 * @throws {WriteError} If `out` cannot be written. After any error, nothing of it is left.
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
  options: WaitOptions & {
    /** Number of files to spread the folder over. Defaults to the file `out` itself. */
    readonly parts?: number | undefined;
    /**
     * Whether to pack an entry; rejected directories are not entered. `path` is relative to the folder, `name` its last
     * part, `depth` 1 for the folder's own entries. Called in the order of a walk, each directory before its content.
     * `isDirectory` follows symbolic links.
     */
    readonly filter?:
      | ((entry: {
        path: string;
        name: string;
        depth: number;
        isDirectory: boolean;
      }) => boolean)
      | undefined;
    /** Whether to pack directories that have nothing (else) to pack. Defaults to `true`. */
    readonly emptyDirectories?: boolean | undefined;
    /**
     * Called with each entry that cannot be packed, which is then skipped. Without it, packing fails with an error that
     * lists all of them, before anything is written.
     */
    readonly onProblem?:
      | ((problem: PackError["problems"][number]) => void)
      | undefined;
    /** Whether to wait until the output is on disk, as {@linkcode FFRecordWriter.open} does. Defaults to `true`. */
    readonly sync?: boolean | undefined;
    /** Called with the progress, every few milliseconds and at the end. */
    readonly onProgress?:
      | ((progress: {
        /** Files packed. */
        readonly files: number;
        /** Bytes of the packed files. */
        readonly bytes: number;
        /** Files to pack. */
        readonly totalFiles: number;
        /** Bytes of the files to pack. */
        readonly totalBytes: number;
      }) => void)
      | undefined;
  } = {},
): Promise<{
  /** Number of files. */
  readonly files: number;
  /** Number of directories, without the folder itself. */
  readonly directories: number;
  /** Total bytes of the files. */
  readonly bytes: number;
  /** Paths of the files written, in order. */
  readonly paths: readonly string[];
  /** Skipped entries, without those that `filter` rejected. */
  readonly skipped: PackError["problems"];
}> {
  const { parts = 1, signal } = options;
  requireParts(parts);
  signal?.throwIfAborted();
  const target = localPath(out);
  const isOne = !isInParts(target, options.parts);
  if (isOne) recordFilePath(target);
  const folder = localPath(dir);
  const root = namingFolder(folder, () => openDirectory(folder));
  /** Reads listed files during the walk. With several parts, reading starts when the number of files is known. */
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

/** Options of {@linkcode packFolder}. */
export type PackOptions = NonNullable<Parameters<typeof packFolder>[2]>;

/** Result of {@linkcode packFolder}. */
export type PackReport = Awaited<ReturnType<typeof packFolder>>;

/** Returns a predicate for the output and its temporary files, also those of killed processes, through any links. */
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
