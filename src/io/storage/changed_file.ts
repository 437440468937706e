import { FormatError } from "../../base/errors.ts";
import type { ByteSource } from "./byte_source.ts";

/** What is known of a file that was opened: by that it is known again. */
export interface KnownFile {
  readonly path: string;
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime: number;
}

/** @throws {FormatError} With code `changed` if a file is not the one that is known. */
export function requireSame(
  source: ByteSource,
  { path, size, mtime }: KnownFile,
): void {
  if (source.size === size && source.mtime === mtime) return;
  throw changedFile(path, size, source.size);
}

/** Says that what is there now is not what was opened. */
export function changedFile(
  path: string,
  expected?: unknown,
  actual?: unknown,
): FormatError {
  return new FormatError(
    "changed",
    `${path} was replaced or changed after it was opened; open it again`,
    { path, expected, actual },
  );
}
