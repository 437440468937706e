import { RecordfsError, WriteError } from "../../base/errors.ts";
import { systemCode, whatIsWrong } from "../libc/system_error.ts";

/** What means something else where a file is written. */
const REASONS: Record<string, string> = {
  EISDIR: "there is a directory of that name",
  ENOENT: "its directory does not exist any more",
};

/** Turns the system's refusal into one sentence; a missing Deno permission stays what it is. */
export function writeError(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof RecordfsError) return error;
  const reason = REASONS[code] ?? whatIsWrong(error);
  return new WriteError(
    code,
    `Cannot write ${path}: ${reason}`,
    { path, cause: error },
  );
}

/** An error about what lies at a path, or below it, as one about where that is to be. */
export function renamed(
  error: RecordfsError,
  from: string,
  to: string,
): RecordfsError {
  const { message, path } = error;
  if (!message.includes(from) && !path?.startsWith(from)) return error;
  const Class = error.constructor as typeof RecordfsError;
  return new Class(error.code, message.replaceAll(from, to), {
    ...error,
    path: path?.replaceAll(from, to),
    cause: error.cause,
  });
}
