import { RecordfsError } from "../../../base/errors.ts";

/** Makes the error for input that an adapter cannot read. */
export function inputError(
  path: string,
  what: string,
  cause?: unknown,
): RecordfsError {
  return new RecordfsError("bad-input", `Cannot gulp ${path}: ${what}`, {
    path,
    cause,
  });
}

/** Runs `read` and adds the path to system errors. */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (error instanceof RecordfsError || typeof code !== "string") throw error;
    throw inputError(path, REASONS[code] ?? (error as Error).message, error);
  }
}

const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOENT: "there is no such file or directory",
  ENOTDIR: "it is not a directory",
};
