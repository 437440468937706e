import { RecordfsError } from "../../src/base/errors.ts";

/** Reason of a {@linkcode MountError}. */
export type MountErrorCode =
  /** An option is unknown or has an invalid value. */
  | "bad-option"
  /** The mount is in use. */
  | "busy"
  /** A file of the container is not the one that was opened. */
  | "changed"
  /** The mount point would hide the container. */
  | "hides-source"
  /** The mount point lies inside the directory to mount. */
  | "inside-source"
  /** The container, or a part of its index, is not on this machine. */
  | "needs-local"
  /** /dev/fuse is missing. */
  | "no-device"
  /** fusermount3 is missing. */
  | "no-fusermount"
  /** The mount point does not exist. */
  | "no-mountpoint"
  | "not-a-directory"
  | "not-empty"
  /** There is no mount to unmount. */
  | "not-mounted"
  /** Deno lacks a permission that mounting needs. */
  | "permission"
  /** The system, or fusermount3, refused. */
  | "refused"
  /** The thread that serves the mount failed. */
  | "server"
  /** The mount point is that of a mount that lost its server. */
  | "stale"
  /** Not Linux with the GNU C library. */
  | "unsupported";

/** Mounting or unmounting failed. `path` is the mount point, or the file concerned. */
export class MountError extends RecordfsError<MountErrorCode> {}
