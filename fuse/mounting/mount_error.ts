import { RecordfsError } from "../../src/base/errors.ts";

/** Subjects of a {@linkcode MountError}. */
export type MountErrorCode =
  /** An option that is unknown or has a value it can't have. */
  | "bad-option"
  /** The mount is in use. */
  | "busy"
  /** A file of the container is not the one that was opened. */
  | "changed"
  /** The mount point would hide the container. */
  | "hides-source"
  /** The mount point lies in the directory that is to be mounted. */
  | "inside-source"
  /** The container, or a part of its index, is not on this machine. */
  | "needs-local"
  /** /dev/fuse is missing. */
  | "no-device"
  /** fusermount3 is missing. */
  | "no-fusermount"
  /** There is no such mount point. */
  | "no-mountpoint"
  | "not-a-directory"
  | "not-empty"
  /** There is no mount to unmount. */
  | "not-mounted"
  /** Deno was not given a permission that mounting needs. */
  | "permission"
  /** The system, or fusermount3, refused. */
  | "refused"
  /** The thread that serves the mount failed. */
  | "server"
  /** A mount there lost its server. */
  | "stale"
  /** Not Linux with the GNU C library. */
  | "unsupported";

/** Something cannot be mounted or unmounted; `path` is the mount point, or the file concerned. */
export class MountError extends RecordfsError<MountErrorCode> {}
