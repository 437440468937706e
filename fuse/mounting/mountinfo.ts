import { Errno } from "../wire/errno.ts";
import { cString, lastErrno, libc } from "../libc.ts";
import { readSpecialFile } from "./read_special_file.ts";

/** A line of `/proc/self/mountinfo`; see proc_pid_mountinfo(5). */
export interface MountEntry {
  /** Device number as `major:minor`, unique to each mounted file system. */
  readonly device: string;
  readonly mountpoint: string;
  /** File-system type, such as `ext4` or `fuse.recordfs`. */
  readonly type: string;
  /** Source of the mount. For a recordfs mount: the container's path. */
  readonly source: string;
  readonly options: readonly string[];
  /** Per-superblock options. */
  readonly superOptions: readonly string[];
}

export const RECORDFS_TYPE = "fuse.recordfs";

/** Buffer for `struct statfs`, which has 120 bytes on every 64-bit Linux. */
const STATFS_ROOM = 256;

/** Parses the text of a mountinfo file. Skips malformed lines. */
export function parseMountinfo(text: string): MountEntry[] {
  const entries: MountEntry[] = [];
  for (const line of text.split("\n")) {
    // The separator follows any number of optional fields.
    const [before, after] = line.split(" - ", 2);
    const [, , device, , mountpoint, options] = before?.split(" ") ?? [];
    const [type, source, superOptions] = after?.split(" ") ?? [];
    if (
      device === undefined || mountpoint === undefined ||
      options === undefined || type === undefined || source === undefined
    ) continue;
    entries.push({
      device,
      mountpoint: unescape(mountpoint),
      type: unescape(type),
      source: unescape(source),
      options: options.split(","),
      superOptions: (superOptions ?? "").split(",").map(unescape),
    });
  }
  return entries;
}

/** Returns all mounts that this process sees, in the order they were made. */
export function readMounts(): MountEntry[] {
  return parseMountinfo(readSpecialFile("/proc/self/mountinfo"));
}

/** Returns the mount that a path leads to: of stacked mounts, the last one made. */
export function findMount(
  entries: readonly MountEntry[],
  mountpoint: string,
): MountEntry | undefined {
  return entries.findLast((entry) => entry.mountpoint === mountpoint);
}

export function recordfsMounts(): MountEntry[] {
  return readMounts().filter((entry) => entry.type === RECORDFS_TYPE);
}

/** Whether the mount at a path has lost its server, and is unusable until unmounted. */
export async function isStale(mountpoint: string): Promise<boolean> {
  const path = cString(mountpoint);
  const room = new Uint8Array(STATFS_ROOM);
  // Unlike stat(2), statfs is never answered from the kernel's cache. On another thread, since it may hang.
  if (await libc().statfsElsewhere(path, room) === 0) return false;
  // errno stays on that thread. Call again on this one: a stale mount fails again, and at once.
  return libc().statfs(path, room) !== 0 && lastErrno() === Errno.ENOTCONN;
}

/** Whether an error is ENOTCONN, "Transport endpoint is not connected". */
export function isNotConnected(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected ||
    (error as { code?: unknown } | null)?.code === "ENOTCONN";
}

/** Decodes the kernel's octal escapes of space, tab, newline, backslash and `#`. */
function unescape(text: string): string {
  return text.replaceAll(
    /\\([0-7]{3})/g,
    (_, octal: string) => String.fromCharCode(parseInt(octal, 8)),
  );
}
