import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { PackProblem } from "./pack_problem.ts";

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
