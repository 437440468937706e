import * as path from "node:path";
import { WriteError } from "../../../base/errors.ts";

/** A run of samples that goes to one of several files. */
export interface Part {
  /** Name of the file. */
  readonly name: string;
  /** Index of its first sample. */
  readonly start: number;
  /** How many samples it holds. */
  readonly count: number;
}

/**
 * Divides samples among files as Python's `dump` does: all have as many but the last. There may be
 * fewer files than asked for, since that number is rounded up; no samples make one empty file.
 *
 * @param count Number of samples.
 * @param parts Number of files, at least 1.
 */
export function divide(count: number, parts: number): Part[] {
  const most = Math.max(1, Math.ceil(count / parts));
  const files = Math.max(1, Math.ceil(count / most));
  // Files are read in the order of their names.
  const width = Math.max(5, String(files - 1).length);
  return Array.from({ length: files }, (_, i) => ({
    name: `PART_${String(i).padStart(width, "0")}.ffr`,
    start: i * most,
    count: Math.min(most, count - i * most),
  }));
}

/**
 * Whether samples go to a new directory: if parts are asked for, though one part goes to the file
 * itself where the name is that of one.
 */
export function isInParts(target: string, parts: number | undefined): boolean {
  return parts !== undefined && (parts > 1 || !target.endsWith(".ffr"));
}

/** @throws {RangeError} If it is no number of files. */
export function requireParts(parts: number): void {
  if (Number.isSafeInteger(parts) && parts >= 1) return;
  throw new RangeError(
    `The number of parts must be a whole number from 1 on, not ${parts}`,
  );
}

const SUFFIX = ".ffr";

/**
 * The path of a new `.ffr` file.
 *
 * @throws {WriteError} If it does not end in `.ffr`: Python's library would not open it.
 */
export function recordFilePath(file: string): string {
  const name = path.basename(file);
  if (name.endsWith(SUFFIX) && name !== SUFFIX && !file.endsWith("/")) {
    return file;
  }
  throw new WriteError(
    "bad-name",
    `Cannot write ${file}: the name of an FFRecord file ends in ${SUFFIX}, ` +
      `since Python's library opens no other`,
    { path: file },
  );
}
