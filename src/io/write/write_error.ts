import { RecordfsError, WriteError } from "../../base/errors.ts";
import { systemCode, whatIsWrong } from "../libc/system_error.ts";

/** Reasons that differ when writing. */
const REASONS: Record<string, string> = {
  EISDIR: "it is a directory",
  ENOENT: "its directory no longer exists",
};

/** Turns a system error into one sentence. A missing Deno permission stays unchanged. */
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
