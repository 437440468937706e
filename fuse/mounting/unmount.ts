import { setTimeout } from "node:timers/promises";
import { Errno } from "../wire/errno.ts";
import { runFusermount } from "./fusermount.ts";
import { workingDirectory } from "../../src/io/storage/local_path.ts";
import { cString, errorText, lastErrno, libc } from "../libc.ts";
import { MountError } from "./mount_error.ts";
import { findMount, type MountEntry, readMounts } from "./mountinfo.ts";
import { withPermissionErrors } from "./permission_error.ts";
import { UnmountFlag } from "../wire/flags.ts";

/** Number of attempts on a busy mount, and the pause between them in milliseconds. */
const TRIES = 10;
const BETWEEN = 30;

/**
 * Unmounts the FUSE mount at a path, of any process.
 *
 * @param options `lazy` detaches a mount in use now; it ends when its last user is gone.
 * @throws {MountError} If no FUSE mount is there, it is in use, or the system refuses.
 */
export function unmountPath(
  path: string,
  options: { readonly lazy?: boolean | undefined } = {},
): Promise<void> {
  return withPermissionErrors(path, async () => {
    const mountpoint = await mountpointOf(path);
    const entry = findMount(readMounts(), mountpoint);
    if (entry === undefined || !isFuse(entry)) {
      const found = entry === undefined
        ? "nothing is mounted there"
        : `what is mounted there is ${entry.type}, not a recordfs mount`;
      throw new MountError("not-mounted", `Cannot unmount ${path}: ${found}`, {
        path,
      });
    }
    await unmount(mountpoint, options.lazy === true);
  });
}

/**
 * Unmounts an absolute path, as root by umount2(2), else through fusermount3. Retries a busy mount for a moment:
 * programs that inspect all mounts, such as `df` and desktops, stay in each for less.
 *
 * @throws {MountError} If it stays in use, or the system refuses.
 */
export async function unmount(
  mountpoint: string,
  lazy: boolean,
): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await unmountOnce(mountpoint, lazy);
    } catch (error) {
      const isBusy = error instanceof MountError && error.code === "busy";
      if (!isBusy || tries === TRIES) throw error;
      await setTimeout(BETWEEN);
    }
  }
}

async function unmountOnce(mountpoint: string, lazy: boolean): Promise<void> {
  if (libc().geteuid() === 0) {
    const errno = unmountAsRoot(mountpoint, lazy ? UnmountFlag.DETACH : 0);
    if (errno === 0) return;
    if (errno === Errno.EBUSY) throw busyError(mountpoint);
    if (errno !== Errno.EPERM) throw refusal(mountpoint, errorText(errno));
  }
  const flag = lazy ? "-uz" : "-u";
  const { success, words } = await runFusermount(mountpoint, [
    flag,
    "--",
    mountpoint,
  ]);
  if (success) return;
  if (/device or resource busy/i.test(words)) throw busyError(mountpoint);
  // fusermount3 knows only the mounts of its caller.
  const isOthers = /not found in \S*mtab/i.test(words);
  throw refusal(
    mountpoint,
    isOthers
      ? "another user has mounted it. Unmount it as that user, or as root"
      : `fusermount3 refused: ${words}`,
  );
}

/** Unmounts by umount2(2) with {@linkcode UnmountFlag}s. Returns the error number, or 0 for success. */
export function unmountAsRoot(mountpoint: string, flags: number): number {
  return libc().umount2(cString(mountpoint), flags) === 0 ? 0 : lastErrno();
}

/**
 * Returns the absolute path of a mount point. The path of a stale mount cannot be resolved; its parent's can.
 *
 * @throws {MountError} If there is no such directory.
 */
export async function mountpointOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      if (!path.startsWith("/")) workingDirectory(); // throws if the working directory is gone
      throw new MountError(
        "not-mounted",
        `Cannot unmount ${path}: there is no such directory`,
        { path, cause: error },
      );
    }
    if (error instanceof Deno.errors.NotCapable) throw error;
    const [, parent, name] = /^(.*?)\/*([^/]+)\/*$/.exec(path) ?? [];
    if (name === undefined) throw error;
    const start = path.startsWith("/") ? "/" : ".";
    const directory = await Deno.realPath(parent || start);
    return `${directory === "/" ? "" : directory}/${name}`;
  }
}

function isFuse({ type }: MountEntry): boolean {
  return type === "fuse" || type.startsWith("fuse.");
}

function busyError(mountpoint: string): MountError {
  return new MountError(
    "busy",
    `Cannot unmount ${mountpoint}: it is in use (fuser -vm ${mountpoint} lists by whom). Unmount ` +
      "it lazily to have it end with its last user",
    { path: mountpoint },
  );
}

export function refusal(mountpoint: string, reason: string): MountError {
  return new MountError("refused", `Cannot unmount ${mountpoint}: ${reason}`, {
    path: mountpoint,
  });
}
