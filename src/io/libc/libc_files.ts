/**
 * The C library's file functions that take a directory descriptor and names as bytes. Deno has neither: its functions
 * take whole paths as Unicode strings.
 *
 * @module
 */
import { encodeName } from "../../base/names.ts";
import { shortAsciiInto } from "../../base/short_ascii.ts";
import { type ErrnoFunctions, lastError } from "./libc.ts";

/** Size and offsets of `struct statx` from `linux/stat.h`. */
export const STATX = {
  SIZE: 256,
  links: 16,
  uid: 20,
  gid: 24,
  mode: 28,
  ino: 32,
  size: 40,
  blocks: 48,
  mtimeSeconds: 112,
  mtimeNanoseconds: 120,
  devMajor: 136,
  devMinor: 140,
  /** `STATX_TYPE`, `_MODE`, `_NLINK`, `_UID`, `_GID`, `_MTIME`, `_INO`, `_SIZE` and `_BLOCKS`. */
  MASK: 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x40 | 0x100 | 0x200 | 0x400,
} as const;

/** Offsets in `struct linux_dirent64` of getdents64(2). */
export const DIRENT = { length: 16, type: 18, name: 19 } as const;

/** `DT_REG`: a regular file, if the file system reports types. */
export const DIRENT_FILE = 8;

/** From `linux/fcntl.h`. */
export const At = {
  FDCWD: -100,
  SYMLINK_NOFOLLOW: 0x100,
  SYMLINK_FOLLOW: 0x400,
  REMOVEDIR: 0x200,
  /** `AT_EACCESS`: checks the effective user, as opening does. */
  EACCESS: 0x200,
  EMPTY_PATH: 0x1000,
} as const;

/** For posix_fadvise(2): hints that the content will be read soon. */
export const FADV_WILLNEED = 3;

/** For sync_file_range(2): starts writing, without waiting. */
export const SYNC_FILE_RANGE_WRITE = 2;

/** From `unistd.h`. */
export const F_OK = 0;
export const R_OK = 4;

const arm = Deno.build.arch === "aarch64";

/** Flags of open(2) (`asm-generic/fcntl.h`; some differ on arm64). */
export const Open = {
  RDONLY: 0,
  WRONLY: 0o1,
  RDWR: 0o2,
  CREAT: 0o100,
  EXCL: 0o200,
  NOCTTY: 0o400,
  NONBLOCK: 0o4000,
  DIRECT: arm ? 0o200000 : 0o40000,
  DIRECTORY: arm ? 0o40000 : 0o200000,
  NOFOLLOW: arm ? 0o100000 : 0o400000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
  TMPFILE: 0o20000000 | (arm ? 0o40000 : 0o200000),
} as const;

/**
 * Errors that none of these functions reports for files and directories, but futex(2) of the runtime's locks does.
 * Between a call and reading errno, V8 may wait for its other threads, and then errno is no longer the call's. The
 * first two are one number.
 */
const NOT_OF_FILES: ReadonlySet<string> = new Set([
  "EAGAIN",
  "EWOULDBLOCK",
  "ETIMEDOUT",
]);

/** Some file systems may report it nevertheless. */
const MOST_ATTEMPTS = 8;

/** Repeats a call until no signal interrupts it and its error is certain. A failed call has done nothing. */
export function call(
  libc: ErrnoFunctions,
  act: () => number,
): number {
  let attempt = 0;
  for (;;) {
    const result = act();
    if (result >= 0) return result;
    throwUnlessRepeated(libc, ++attempt);
  }
}

/**
 * Throws the error of the previous call, unless it must be repeated. For loops around calls made for each file, because
 * {@linkcode call} takes as long as the kernel does.
 */
export function throwUnlessRepeated(
  libc: ErrnoFunctions,
  attempt: number,
): void {
  const error = lastError(libc);
  const isUnknown = NOT_OF_FILES.has(error.code) && attempt < MOST_ATTEMPTS;
  if (error.code !== "EINTR" && !isUnknown) throw error;
}

const encoder = new TextEncoder();
// Two buffers, because rename takes two names. Names end with NUL.
const scratch = [new Uint8Array(4096), new Uint8Array(4096)] as const;

/**
 * Encodes a name for the C library, in memory that the next call with the same `which` reuses. Throws a TypeError if
 * the name contains NUL, where the C library would cut it.
 */
export function cName(name: string, which: 0 | 1 = 0): Uint8Array<ArrayBuffer> {
  const memory = scratch[which];
  if (!shortAsciiInto(name, memory) || name.includes("\0")) {
    return encodedName(name, memory);
  }
  memory[name.length] = 0;
  return memory;
}

function encodedName(
  name: string,
  memory: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  if (name.includes("\0")) {
    throw new TypeError(`The name ${JSON.stringify(name)} has a NUL`);
  }
  if (name.isWellFormed() && name.length < 1024) {
    const { written } = encoder.encodeInto(name, memory); // at most 3 bytes per unit
    memory[written] = 0;
    return memory;
  }
  const bytes = encodeName(name);
  const own = new Uint8Array(bytes.length + 1);
  own.set(bytes);
  return own;
}
