import * as path from "node:path";
import { WriteError } from "../../../errors.ts";

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
