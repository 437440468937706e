import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../base/errors.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { WritableFile } from "./writable_file.ts";
import { writeError } from "./write_error.ts";

/** The kernel's limit in one path. */
const MOST_LINKS = 40;

export interface WriteTarget {
  /** The path with symbolic links resolved, which the new file or directory is renamed to. */
  readonly path: string;
  readonly found: fs.Stats | undefined;
}

/**
 * Finds where writing to `location` leads. Symbolic links are followed, even dangling ones. Throws a
 * {@linkcode WriteError} if its directory does not exist, or the links are circular.
 */
export function* findTarget(location: string): Steps<WriteTarget> {
  if (!location.isWellFormed()) {
    throw new WriteError(
      "bad-name",
      `Cannot write ${JSON.stringify(location)}: the name is not valid Unicode`,
      { path: location },
    );
  }
  let target = location;
  for (let links = 0; links <= MOST_LINKS; links++) {
    const found = yield* look(location, target);
    if (found === undefined || !found.isSymbolicLink()) {
      if (found === undefined) yield* requireDirectory(location, target);
      return { path: target, found };
    }
    const link = yield* perform({
      sync: () => fs.readlinkSync(target),
      async: () => fs.promises.readlink(target),
    });
    // Not normalized: the kernel must resolve `..` behind a link to a directory.
    target = path.isAbsolute(link) ? link : `${path.dirname(target)}/${link}`;
  }
  throw writeError(location, { code: "ELOOP" });
}

function* look(location: string, target: string): Steps<fs.Stats | undefined> {
  try {
    return yield* perform({
      sync: () => fs.lstatSync(target),
      async: () => fs.promises.lstat(target),
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw writeError(location, error);
  }
}

/** Checked before anything is written, so that the error names the directory and not the file. */
function* requireDirectory(location: string, target: string): Steps<void> {
  const parent = path.dirname(target);
  if ((yield* look(location, parent)) !== undefined) return;
  throw new WriteError(
    "ENOENT",
    `Cannot write ${location}: the directory ${parent} does not exist. Make it first`,
    { path: location },
  );
}

/** Makes a rename in `target`'s directory survive a power loss. */
export function* syncDirectoryOf(target: string): Steps<void> {
  const parent = path.dirname(target);
  try {
    const directory = yield* WritableFile.open(parent, "r", target);
    try {
      yield* directory.sync();
    } finally {
      directory.close();
    }
  } catch (error) {
    // A directory may be writable but not readable, and some file systems do not support it (EINVAL).
    const code = String((error as { code?: unknown }).code);
    if (code !== "EACCES" && code !== "EINVAL") throw error;
  }
}
