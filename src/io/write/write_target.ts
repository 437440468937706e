import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../base/errors.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { WritableFile } from "./writable_file.ts";
import { writeError } from "./write_error.ts";

/** As many as the kernel follows in one path. */
const MOST_LINKS = 40;

/** State of the place that is to be written. */
export interface WriteTarget {
  /** The path behind all symbolic links, where the new file or directory is renamed to. */
  readonly path: string;
  /** The entry that is there now. */
  readonly found: fs.Stats | undefined;
}

/**
 * Finds where writing to `location` leads: a symbolic link is written through, also one that
 * points at nothing yet.
 *
 * @throws {WriteError} If the directory it lies in does not exist, or the links go round.
 */
export function* findTarget(location: string): Steps<WriteTarget> {
  if (!location.isWellFormed()) {
    throw new WriteError(
      "bad-name",
      `Cannot write ${JSON.stringify(location)}: the name is not Unicode, ` +
        `and files of such names cannot be made here`,
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
    // Joined as it is: `..` behind a link to a directory is for the kernel to resolve.
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

/** Said before anything is written, and with the directory's name instead of the file's. */
function* requireDirectory(location: string, target: string): Steps<void> {
  const parent = path.dirname(target);
  if ((yield* look(location, parent)) !== undefined) return;
  throw new WriteError(
    "ENOENT",
    `Cannot write ${location}: the directory ${parent} does not exist; make it first`,
    { path: location },
  );
}

/** Makes a renamed entry of `target`'s directory survive a loss of power. */
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
    // A directory may be writable yet not readable, and some file systems cannot do it (EINVAL).
    const code = String((error as { code?: unknown }).code);
    if (code !== "EACCES" && code !== "EINVAL") throw error;
  }
}
