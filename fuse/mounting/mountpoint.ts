import type { Tree } from "../../src/tree/tree.ts";
import { type NamedOption, optionText } from "../../src/base/named_option.ts";
import { lazySources, openedSources } from "../../src/tree/joined_sources.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { MountError } from "./mount_error.ts";
import {
  findMount,
  isNotConnected,
  isStale,
  recordfsMounts,
} from "./mountinfo.ts";

const NON_EMPTY: NamedOption = { name: "nonEmpty" };

/** What a mount point is checked against. */
export interface MountpointUse {
  readonly tree: Tree;
  readonly containers: readonly string[];
  readonly nonEmpty: boolean;
}

/**
 * Resolves the directory to mount on.
 *
 * @returns Its absolute path without symbolic links.
 * @throws {MountError} If it does not exist, is not a directory, or is a stale mount.
 */
export async function resolveMountpoint(path: string): Promise<string> {
  await checkDirectory(path);
  return await Deno.realPath(path);
}

/** Checks that a resolved directory can be mounted on. */
export async function checkMountpoint(
  mountpoint: string,
  { tree, containers, nonEmpty }: MountpointUse,
): Promise<void> {
  await checkSources(mountpoint, tree, containers);
  if (nonEmpty) return;
  const mounted = findMount(recordfsMounts(), mountpoint);
  if (mounted !== undefined) {
    throw new MountError(
      "not-empty",
      `Cannot mount on ${mountpoint}: ${mounted.source} is mounted there already. Unmount it, ` +
        "replace it with `recordfs mount --replace`, choose another directory, " +
        `or mount over it with ${optionText(NON_EMPTY)}`,
      { path: mountpoint, namedOptions: [NON_EMPTY] },
    );
  }
  if (!await isEmpty(mountpoint)) {
    throw new MountError(
      "not-empty",
      `Cannot mount on ${mountpoint}: the directory is not empty, and the mount would ` +
        `hide its content. Choose an empty one, or mount over it with ${
          optionText(NON_EMPTY)
        }`,
      { path: mountpoint, namedOptions: [NON_EMPTY] },
    );
  }
}

/** Whether a directory is empty or unreadable: in the latter case, mounting itself fails with the system's reason. */
async function isEmpty(directory: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(directory)) return false;
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
  return true;
}

async function checkDirectory(path: string): Promise<void> {
  let info: Deno.FileInfo;
  try {
    info = await Deno.stat(path);
  } catch (error) {
    if (isNotConnected(error)) throw staleError(path); // detected here if nothing is cached
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new MountError(
      "no-mountpoint",
      `Cannot mount on ${path}: there is no such directory. Make it first (mkdir)`,
      { path, cause: error },
    );
  }
  if (info.isDirectory) {
    if (await isStale(path)) throw staleError(path);
    return;
  }
  throw new MountError(
    "not-a-directory",
    `Cannot mount on ${path}: it is not a directory`,
    { path },
  );
}

async function checkSources(
  mountpoint: string,
  tree: Tree,
  containers: readonly string[],
): Promise<void> {
  for (const given of containers) {
    const container = await realPathOf(given);
    if (
      container === undefined || container === mountpoint ||
      !contains(container, mountpoint)
    ) continue;
    throw new MountError(
      "inside-source",
      `Cannot mount on ${mountpoint}: it is inside ${container}, which is to be mounted. Choose a ` +
        "directory elsewhere",
      { path: mountpoint },
    );
  }
  for (const file of sourcePaths(tree)) {
    const path = await realPathOf(file);
    if (path === undefined || !contains(mountpoint, path)) continue;
    throw new MountError(
      "hides-source",
      `Cannot mount on ${mountpoint}: it would hide ${path}, which is to be mounted. Choose a ` +
        "directory elsewhere",
      { path: mountpoint },
    );
  }
}

/** Files that the tree needs while it is served. */
function sourcePaths({ sources }: Tree): readonly string[] {
  const files = openedSources(sources)
    .filter((source) => source instanceof FileSource);
  return [...files, ...lazySources(sources)].map(({ path }) => path);
}

/** Resolves symbolic links. Returns `undefined` for what is not a path, such as a URL. */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether `path` is `directory` or lies below it. Both must be absolute. */
function contains(directory: string, path: string): boolean {
  if (directory === "/" || directory === path) return true;
  return path.startsWith(`${directory}/`);
}

function staleError(path: string): MountError {
  return new MountError(
    "stale",
    `Cannot mount on ${path}: what was mounted there lost its server ("Transport endpoint is not ` +
      `connected"). Remove it with 'recordfs unmount ${path}' or 'fusermount3 -u ${path}'`,
    { path },
  );
}
