import * as path from "node:path";
import { WriteError } from "../../../base/errors.ts";

/** Range of samples for one of several files. */
export interface Part {
  readonly name: string;
  readonly start: number;
  readonly count: number;
}

/**
 * Divides `count` samples among files as Python's `dump` does, evenly but for the last. There may be fewer files than
 * `parts`, since the samples per file are rounded up; no samples make one empty file.
 */
export function divide(count: number, parts: number): Part[] {
  const most = Math.max(1, Math.ceil(count / parts));
  const files = Math.max(1, Math.ceil(count / most));
  // Files are read in name order.
  const width = Math.max(5, String(files - 1).length);
  return Array.from({ length: files }, (_, i) => ({
    name: `PART_${String(i).padStart(width, "0")}.ffr`,
    start: i * most,
    count: Math.min(most, count - i * most),
  }));
}

/** Whether samples go to a new directory: if parts are requested, unless one part has a target named as a file. */
export function isInParts(target: string, parts: number | undefined): boolean {
  return parts !== undefined && (parts > 1 || !target.endsWith(".ffr"));
}

export function requireParts(parts: number): void {
  if (Number.isSafeInteger(parts) && parts >= 1) return;
  throw new RangeError(
    `The number of parts must be a whole number from 1 on, not ${parts}`,
  );
}

const SUFFIX = ".ffr";

/** @throws {WriteError} If the name does not end in `.ffr`: Python's library would not open it. */
export function recordFilePath(file: string): string {
  const name = path.basename(file);
  if (name.endsWith(SUFFIX) && name !== SUFFIX && !file.endsWith("/")) {
    return file;
  }
  throw new WriteError(
    "bad-name",
    `Cannot write ${file}: the name of an FFRecord file must end in ` +
      `${SUFFIX}: Python's library opens no other`,
    { path: file },
  );
}
