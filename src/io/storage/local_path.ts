import { RecordfsError } from "../../errors.ts";
import { systemCode } from "../libc/system_error.ts";

/** A scheme of at least two letters: one may be a drive. */
const URL_LIKE = /^[a-z][a-z0-9+.-]+:\/\//i;

/**
 * The path that a container's location means. Text that looks like a URL is none, whatever there is on
 * the disk: a directory called `http:` is reached as `./http:`.
 *
 * @throws {RecordfsError} If it is a URL of another machine, or a URL as text (`not-local`).
 */
export function localPath(location: string | URL): string {
  if (!(location instanceof URL)) {
    requireLocal(location);
    return location;
  }
  if (location.protocol === "file:") {
    return process.getBuiltinModule("node:url").fileURLToPath(location);
  }
  throw notLocal(location.href);
}

/**
 * Makes sure that a path is not a URL.
 *
 * @throws {RecordfsError} If it is one.
 */
export function requireLocal(path: string): void {
  if (URL_LIKE.test(path)) throw notLocal(path);
}

function notLocal(url: string): RecordfsError {
  const advice = /^file:/i.test(url)
    ? "Give its path, without file://"
    : `Download it, and give the path of the file (./${url} is a path)`;
  return new RecordfsError(
    "not-local",
    `Cannot use ${url}: URLs are not supported yet, only what lies on this machine. ${advice}`,
    { path: url },
  );
}

/**
 * {@linkcode localPath} that means the same when the working directory is another one: for what threads open
 * later.
 *
 * @throws {RecordfsError} If it is a URL of another machine.
 */
export function absoluteLocalPath(location: string | URL): string {
  const path = localPath(location);
  const isWhole = path === "" ||
    process.getBuiltinModule("node:path").isAbsolute(path);
  // Not resolved: behind a symbolic link, `..` is another directory.
  return isWhole
    ? path
    : `${workingDirectory()}/${path.replace(/^(\.\/+)+/, "")}`;
}

/**
 * The working directory.
 *
 * @throws {RecordfsError} With code `ENOENT` if it was removed.
 */
export function workingDirectory(): string {
  try {
    return Deno.cwd();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new RecordfsError(
      "ENOENT",
      "The working directory was removed, so that paths from there lead nowhere: go to another one (`cd`), " +
        "or give whole paths",
      { cause: error },
    );
  }
}
