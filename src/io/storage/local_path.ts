import { RecordfsError } from "../../base/errors.ts";
import { isUrl, withoutSecrets } from "../remote/remote_location.ts";
import { systemCode } from "../libc/system_error.ts";

/**
 * Returns the local path of a container's location. Text that looks like a URL is never a path: a directory called
 * `http:` must be written `./http:`. Throws `not-local` for a URL of another machine, or a URL as text.
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

/** @throws {RecordfsError} If a path is a URL. */
export function requireLocal(path: string): void {
  if (isUrl(path)) throw notLocal(path);
}

function notLocal(url: string): RecordfsError {
  const path = withoutSecrets(url);
  const advice = /^file:/i.test(url)
    ? "Give its path, without file://"
    : `Give a local path (./${path} is one)`;
  return new RecordfsError(
    "not-local",
    `Cannot use ${path} here: it must be a local file or directory. ${advice}`,
    { path },
  );
}

/** {@linkcode localPath} that does not depend on the working directory, for files that threads open later. */
export function absoluteLocalPath(location: string | URL): string {
  return separatePaths(localPath(location)).map(absolute).join("::");
}

/** Splits a text at `::`, which joins paths as in WebDataset, unless a file has that name. */
function separatePaths(text: string): string[] {
  if (!text.includes("::")) return [text];
  const { existsSync } = process.getBuiltinModule("node:fs");
  return existsSync(text) ? [text] : text.split("::");
}

function absolute(path: string): string {
  // In a pattern such as `{/a,/b}/x.tar`, the first path decides.
  const isWhole = path === "" || isUrl(path) ||
    process.getBuiltinModule("node:path").isAbsolute(path.replace(/^\{+/, ""));
  // Not normalized: behind a symbolic link, `..` is another directory.
  return isWhole
    ? path
    : `${workingDirectory()}/${path.replace(/^(\.\/+)+/, "")}`;
}

/** Returns the working directory. Throws `ENOENT` if it was removed. */
export function workingDirectory(): string {
  try {
    return Deno.cwd();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new RecordfsError(
      "ENOENT",
      "Cannot resolve relative paths: the working directory was removed. Go to another one (`cd`), " +
        "or give absolute paths",
      { cause: error },
    );
  }
}
