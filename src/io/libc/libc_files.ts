/**
 * The C library's file functions that take a directory's descriptor and names as bytes. Deno has
 * neither: its functions take whole paths, as strings of Unicode.
 *
 * @module
 */
import { encodeName } from "../../base/names.ts";
import { shortAsciiInto } from "../../base/short_ascii.ts";
import { type ErrnoFunctions, lastError } from "./libc.ts";

/** `struct statx` of `linux/stat.h`: its size, and what of it is used. */
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

/** `struct linux_dirent64` of getdents64(2). */
export const DIRENT = { length: 16, type: 18, name: 19 } as const;

/** `DT_REG`: a regular file, where a file system says what its entries are. */
export const DIRENT_FILE = 8;

/** From `linux/fcntl.h`. */
export const At = {
  FDCWD: -100,
  SYMLINK_NOFOLLOW: 0x100,
  SYMLINK_FOLLOW: 0x400,
  REMOVEDIR: 0x200,
  /** `AT_EACCESS`: with the permissions that opening goes by. */
  EACCESS: 0x200,
  EMPTY_PATH: 0x1000,
} as const;

/** Of posix_fadvise(2): its content will be read soon. */
export const FADV_WILLNEED = 3;

/** Of sync_file_range(2): starts to write, and waits for nothing. */
export const SYNC_FILE_RANGE_WRITE = 2;

/** `F_OK` and `R_OK` of `unistd.h`. */
export const F_OK = 0;
export const R_OK = 4;

const arm = Deno.build.arch === "aarch64";

/** Flags of open(2) (`asm-generic/fcntl.h`; arm64 has two of its own). */
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
 * What none of these functions says of files and directories, but futex(2) of the runtime's locks: between a
 * call and the look at errno, V8 may wait for its other threads, and then errno is no longer the call's.
 * The first two are one number.
 */
const NOT_OF_FILES: ReadonlySet<string> = new Set([
  "EAGAIN",
  "EWOULDBLOCK",
  "ETIMEDOUT",
]);

/** Some file system may mean it all the same. */
const MOST_ATTEMPTS = 8;

/**
 * Makes a call until no signal interrupts it, and what it fails of is known; one that fails has done
 * nothing. What it answers is not negative.
 */
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
 * Says what the call was refused for that was just made, unless it is to be made once more: for loops around calls
 * that are made for each file, since {@linkcode call} takes as long as the kernel does.
 *
 * @param attempt How often it was made.
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
// Two, as rename takes two names. A name's end is a NUL.
const scratch = [new Uint8Array(4096), new Uint8Array(4096)] as const;

/**
 * A name as the C library takes it, in memory that the next call with the same `which` reuses.
 *
 * @throws {TypeError} If it has a NUL: the C library would take what stands before that for it.
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
    const { written } = encoder.encodeInto(name, memory); // at most 3 bytes a unit
    memory[written] = 0;
    return memory;
  }
  const bytes = encodeName(name);
  const own = new Uint8Array(bytes.length + 1);
  own.set(bytes);
  return own;
}
