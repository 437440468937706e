import { RecordfsError } from "../../src/base/errors.ts";

/**
 * Mounting or unmounting failed. `path` is the mount point, or the file concerned; `code` the reason:
 *
 * - `bad-option`: an option is unknown or has an invalid value.
 * - `busy`: the mount is in use.
 * - `changed`: a file of the container is not the one that was opened.
 * - `hides-source`: the mount point would hide the container.
 * - `inside-source`: the mount point lies inside the directory to mount.
 * - `needs-local`: the container, or a part of its index, is not on this machine.
 * - `no-device`: /dev/fuse is missing.
 * - `no-fusermount`: fusermount3 is missing.
 * - `no-mountpoint`: the mount point does not exist.
 * - `not-a-directory`: the mount point is not a directory.
 * - `not-empty`: the mount point is not empty.
 * - `not-mounted`: there is no mount to unmount.
 * - `permission`: Deno lacks a permission that mounting needs.
 * - `refused`: the system, or fusermount3, refused.
 * - `server`: the thread that serves the mount failed.
 * - `stale`: the mount point is that of a mount that lost its server.
 * - `unsupported`: not Linux with the GNU C library.
 */
export class MountError extends RecordfsError<
  | "bad-option"
  | "busy"
  | "changed"
  | "hides-source"
  | "inside-source"
  | "needs-local"
  | "no-device"
  | "no-fusermount"
  | "no-mountpoint"
  | "not-a-directory"
  | "not-empty"
  | "not-mounted"
  | "permission"
  | "refused"
  | "server"
  | "stale"
  | "unsupported"
> {}
