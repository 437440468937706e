import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../base/errors.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { systemCode } from "../libc/system_error.ts";
import { writeError } from "./write_error.ts";

export interface MadeDirectories {
  /** Removes those that are still empty, because what was to go into them was not written. */
  removeEmpty(): void;
}

/** Creates a directory and its parents. Throws a {@linkcode WriteError} about `forPath`, to be written there. */
export function* makeDirectories(
  directory: string,
  forPath: string,
): Steps<MadeDirectories> {
  let first: string | undefined;
  if (directory.isWellFormed()) { // else the next step refuses it; Deno would create another name
    try {
      first = yield* perform({
        sync: () => fs.mkdirSync(directory, { recursive: true }),
        async: () => fs.promises.mkdir(directory, { recursive: true }),
      });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw writeError(forPath, error);
      throw new WriteError(
        "not-a-directory",
        `Cannot write ${forPath}: ${directory} exists and is not a directory. Choose another name`,
        { path: forPath, cause: error },
      );
    }
  }
  return { removeEmpty: () => removeEmpty(directory, first) };
}

/** @param first The topmost created directory; `undefined` if all existed. */
function removeEmpty(directory: string, first: string | undefined): void {
  if (first === undefined) return;
  const levels = path.relative(path.resolve(first), path.resolve(directory));
  const count = levels === "" ? 1 : 1 + levels.split(path.sep).length;
  try {
    for (let left = count, at = path.resolve(directory); left > 0; left--) {
      fs.rmdirSync(at);
      at = path.dirname(at);
    }
  } catch {
    // Not empty: another process has put something there.
  }
}
