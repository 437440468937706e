import { RecordfsError, WriteError } from "../../errors.ts";
import { systemCode } from "../libc/system_error.ts";

const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EDQUOT: "your disk quota is used up; free some of it, or write elsewhere",
  EFBIG: "the file would be larger than the file system or `ulimit -f` allows",
  EIO: "the disk reports an error",
  EISDIR: "there is a directory of that name",
  ELOOP: "too many symbolic links",
  EMFILE: "too many files are open (raise `ulimit -n`)",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "its directory does not exist any more",
  ENOSPC: "the disk is full; free some space, or write elsewhere",
  ENOTDIR: "a part of the path is not a directory",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/** Turns the system's refusal into one sentence; a missing Deno permission stays what it is. */
export function writeError(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof RecordfsError) return error;
  const reason = REASONS[code] ?? (error as Error).message;
  return new WriteError(
    code,
    `Cannot write ${path}: ${reason}`,
    { path, cause: error },
  );
}
