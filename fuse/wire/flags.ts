/**
 * Flags of the kernel's interfaces, under the kernel's names.
 *
 * @module
 */

/** `FUSE_*` INIT flags of `linux/fuse.h` in the first 32 bits, as far as recordfs uses or names them. */
export const InitFlag = {
  ASYNC_READ: 1 << 0,
  EXPORT_SUPPORT: 1 << 4,
  DO_READDIRPLUS: 1 << 13,
  NO_OPEN_SUPPORT: 1 << 17,
  PARALLEL_DIROPS: 1 << 18,
  MAX_PAGES: 1 << 22,
  CACHE_SYMLINKS: 1 << 23,
  NO_OPENDIR_SUPPORT: 1 << 24,
  /** `flags2` is valid; see {@linkcode MoreInitFlag}. */
  INIT_EXT: 1 << 30,
} as const;

/** `FUSE_*` INIT flags of `linux/fuse.h` in the second 32 bits, `flags2`. */
export const MoreInitFlag = {
  /** The kernel can resend requests in flight: since Linux 6.9. */
  HAS_RESEND: 1 << 7,
} as const;

/** `FOPEN_*` flags of `fuse_open_out.open_flags` in `linux/fuse.h`. */
export const OpenReplyFlag = {
  KEEP_CACHE: 1 << 1,
  CACHE_DIR: 1 << 3,
} as const;

/** Access mode bits of `open(2)`, `O_ACCMODE` in `asm-generic/fcntl.h`; 0 is `O_RDONLY`. */
export const O_ACCMODE = 3;

/** `O_*` flags of `open(2)`, from `asm-generic/fcntl.h`: those that are the same on every architecture. */
export const OpenFlag = {
  RDONLY: 0,
  WRONLY: 1,
  RDWR: 2,
  CLOEXEC: 0o2000000,
  /** Location only: needs no permission on the file, and sends no request to a server. */
  PATH: 0o10000000,
} as const;

/** `MS_*` mount flags of `linux/mount.h`. */
export const MountFlag = {
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
} as const;

/** `MNT_*` flags of `umount2(2)`, from `linux/fs.h`. */
export const UnmountFlag = {
  /** For FUSE: aborts the connection first, so that nothing waits for its server any more. */
  FORCE: 1,
  /** Detaches the mount now; it ends when its last user is gone. */
  DETACH: 2,
} as const;

/** `DT_*` types of a directory entry, from `dirent.h`. */
export const EntryType = {
  UNKNOWN: 0,
  DIRECTORY: 4,
  FILE: 8,
  LINK: 10,
} as const;

/** `S_IF*` file type bits of a mode, from `linux/stat.h`. */
export const FileType = {
  DIRECTORY: 0o040000,
  REGULAR: 0o100000,
  LINK: 0o120000,
} as const;
