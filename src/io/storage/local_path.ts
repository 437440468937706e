import { RecordfsError } from "../../base/errors.ts";
import { isUrl, withoutSecrets } from "../remote/remote_location.ts";
import { systemCode } from "../libc/system_error.ts";

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
  if (isUrl(path)) throw notLocal(path);
}

function notLocal(url: string): RecordfsError {
  const path = withoutSecrets(url);
  const advice = /^file:/i.test(url)
    ? "Give its path, without file://"
    : `Give a path of this machine (./${path} is one)`;
  return new RecordfsError(
    "not-local",
    `Cannot use ${path} here, where it has to be a file or directory of this machine. ${advice}`,
    { path },
  );
}

/**
 * {@linkcode localPath} that means the same when the working directory is another one: for what threads open
 * later.
 *
 * @throws {RecordfsError} If it is a URL of another machine.
 */
export function absoluteLocalPath(location: string | URL): string {
  return separatePaths(localPath(location)).map(absolute).join("::");
}

/** The paths of a text: several where `::` joins them, as WebDataset does it, and nothing is called so. */
function separatePaths(text: string): string[] {
  if (!text.includes("::")) return [text];
  const { existsSync } = process.getBuiltinModule("node:fs");
  return existsSync(text) ? [text] : text.split("::");
}

function absolute(path: string): string {
  // Of a pattern such as `{/a,/b}/x.tar`, the first path tells.
  const isWhole = path === "" || isUrl(path) ||
    process.getBuiltinModule("node:path").isAbsolute(path.replace(/^\{+/, ""));
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
