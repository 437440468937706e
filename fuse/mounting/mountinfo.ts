import { Errno } from "../wire/errno.ts";
import { cString, lastErrno, libc } from "../libc.ts";
import { readSpecialFile } from "./read_special_file.ts";

/** A line of `/proc/self/mountinfo`; see proc_pid_mountinfo(5). */
export interface MountEntry {
  /** Device number as `major:minor`, which differs for each mounted file system. */
  readonly device: string;
  readonly mountpoint: string;
  /** File-system type, such as `ext4` or `fuse.recordfs`. */
  readonly type: string;
  /** Source of the mount: of a recordfs mount, the container's path. */
  readonly source: string;
  /** Options of this mount. */
  readonly options: readonly string[];
  /** Options of the file system. */
  readonly superOptions: readonly string[];
}

/** File-system type of a recordfs mount. */
export const RECORDFS_TYPE = "fuse.recordfs";

/** Bytes that `struct statfs` fits into: it has 120 on every 64-bit Linux. */
const STATFS_ROOM = 256;

/** Reads the text of a mountinfo file. Lines that don't have its form are left out. */
export function parseMountinfo(text: string): MountEntry[] {
  const entries: MountEntry[] = [];
  for (const line of text.split("\n")) {
    // Optional fields of any number stand before the separator.
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

/** All mounts that this process sees, in the order they were made. */
export function readMounts(): MountEntry[] {
  return parseMountinfo(readSpecialFile("/proc/self/mountinfo"));
}

/** The mount that a path leads to: of several on top of each other, the last one made. */
export function findMount(
  entries: readonly MountEntry[],
  mountpoint: string,
): MountEntry | undefined {
  return entries.findLast((entry) => entry.mountpoint === mountpoint);
}

/** The recordfs mounts that this process sees. */
export function recordfsMounts(): MountEntry[] {
  return readMounts().filter((entry) => entry.type === RECORDFS_TYPE);
}

/**
 * Whether what is mounted at a path lost its server: nothing there can be used until it is unmounted.
 */
export async function isStale(mountpoint: string): Promise<boolean> {
  const path = cString(mountpoint);
  const room = new Uint8Array(STATFS_ROOM);
  // Unlike stat(2), never answered from the kernel's cache; on another thread, since it may hang.
  if (await libc().statfsElsewhere(path, room) === 0) return false;
  // The reason stays on that thread: what has been refused once is refused again, at once.
  return libc().statfs(path, room) !== 0 && lastErrno() === Errno.ENOTCONN;
}

/** Tells whether an error is ENOTCONN, "Transport endpoint is not connected". */
export function isNotConnected(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected ||
    (error as { code?: unknown } | null)?.code === "ENOTCONN";
}

/** Undoes the kernel's octal escapes of space, tab, newline, backslash and `#`. */
function unescape(text: string): string {
  return text.replaceAll(
    /\\([0-7]{3})/g,
    (_, octal: string) => String.fromCharCode(parseInt(octal, 8)),
  );
}
