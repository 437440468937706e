import { RecordfsError } from "../errors.ts";
import { workingDirectory } from "./working_directory.ts";

/**
 * The path that a container's location means.
 *
 * @throws {RecordfsError} If it is a URL of another machine.
 */
export function localPath(location: string | URL): string {
  if (!(location instanceof URL)) return location;
  if (location.protocol === "file:") {
    return process.getBuiltinModule("node:url").fileURLToPath(location);
  }
  throw new RecordfsError(
    "not-local",
    `Cannot open ${location}: containers are local files (file: URLs or paths)`,
    { path: location.href },
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
