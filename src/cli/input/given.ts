import { requireLocal } from "../../io/storage/local_path.ts";
import { UsageError } from "../exit.ts";

/**
 * Makes sure that file names can end in what was given as `--ext`.
 *
 * @throws {UsageError} If they can't.
 */
export function checkExt(
  { ext }: { readonly ext?: string | undefined },
): void {
  if (ext === undefined || !/[/\0]/.test(ext)) return;
  throw new UsageError(`'${ext}' cannot be a suffix of file names`);
}

/**
 * Makes sure that a path was given: an empty one, as of an unset variable, would mean the current
 * directory. Nor is it a URL.
 *
 * @throws {UsageError} If it is empty.
 * @throws {RecordfsError} If it is a URL.
 */
export function checkGiven(path: string, what: string): void {
  if (path === "") throw new UsageError(`the path of ${what} is empty`);
  requireLocal(path);
}
