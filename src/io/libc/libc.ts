/**
 * The C library, for what Deno does not offer. Only this module opens it, and never prompts: without FFI permission,
 * callers do without or report it.
 *
 * @module
 */
import { SystemError } from "./system_error.ts";

function returning<
  Result extends Deno.NativeResultType,
  const Parameters extends readonly Deno.NativeType[],
>(result: Result, ...parameters: Parameters) {
  return { result, parameters } as const;
}

const STATFS = returning("i32", "buffer", "buffer");
const FACCESSAT = returning("i32", "i32", "buffer", "i32", "i32");
const SYNC_FILE_RANGE = returning("i32", "i32", "i64", "i64", "u32");
const POLL = returning("i32", "buffer", "u32", "i32");

/**
 * All called functions. 64-bit results that are small in practice are declared `i32`, because a number costs a tenth of
 * a BigInt. On little-endian machines, the only ones Deno runs on, that returns the low half.
 *
 * Functions named `…Elsewhere` run on another thread, where errno is lost: for calls that may wait for a server, or for
 * a given time.
 */
const FUNCTIONS = {
  open: returning("i32", "buffer", "i32"),
  openat: returning("i32", "i32", "buffer", "i32", "u32"),
  close: returning("i32", "i32"),
  read: returning("i32", "i32", "buffer", "u32"),
  pread: returning("i32", "i32", "buffer", "u32", "i64"),
  preadElsewhere: {
    ...returning("i32", "i32", "buffer", "u32", "i64"),
    name: "pread",
    nonblocking: true,
  },
  preadv2: returning("i32", "i32", "buffer", "i32", "i64", "i32"),
  write: returning("i32", "i32", "buffer", "u32"),
  pwrite: returning("i32", "i32", "buffer", "u32", "i64"),
  pwriteElsewhere: {
    ...returning("i32", "i32", "buffer", "u32", "i64"),
    name: "pwrite",
    nonblocking: true,
  },
  writev: returning("i32", "i32", "buffer", "i32"),
  lseek: returning("i64", "i32", "i64", "i32"),
  ftruncate: returning("i32", "i32", "i64"),
  futimens: returning("i32", "i32", "buffer"),
  utimensat: returning("i32", "i32", "buffer", "buffer", "i32"),
  fcntl: returning("i32", "i32", "i32", "i32"),
  lockRange: { ...returning("i32", "i32", "i32", "buffer"), name: "fcntl" },
  ioctl: returning("i32", "i32", "usize", "buffer"),
  poll: POLL,
  pollElsewhere: { ...POLL, name: "poll", nonblocking: true },

  statx: returning("i32", "i32", "buffer", "i32", "u32", "buffer"),
  faccessat: FACCESSAT,
  accessElsewhere: { ...FACCESSAT, name: "faccessat", nonblocking: true },
  getdents64: returning("i32", "i32", "buffer", "u32"),
  mkdirat: returning("i32", "i32", "buffer", "u32"),
  fchmod: returning("i32", "i32", "u32"),
  fchmodat: returning("i32", "i32", "buffer", "u32", "i32"),
  fchownat: returning("i32", "i32", "buffer", "u32", "u32", "i32"),
  readlinkat: returning("i32", "i32", "buffer", "buffer", "usize"),
  flock: returning("i32", "i32", "i32"),
  renameat2: returning("i32", "i32", "buffer", "i32", "buffer", "u32"),
  symlinkat: returning("i32", "buffer", "i32", "buffer"),
  linkat: returning("i32", "i32", "buffer", "i32", "buffer", "i32"),
  unlinkat: returning("i32", "i32", "buffer", "i32"),
  fsync: returning("i32", "i32"),
  fileAdvise: {
    ...returning("i32", "i32", "i64", "i64", "i32"),
    name: "posix_fadvise",
  },
  syncFileRange: { ...SYNC_FILE_RANGE, name: "sync_file_range" },
  syncFileRangeElsewhere: {
    ...SYNC_FILE_RANGE,
    name: "sync_file_range",
    nonblocking: true,
  },
  syncfsElsewhere: {
    ...returning("i32", "i32"),
    name: "syncfs",
    nonblocking: true,
  },

  statfs: STATFS,
  fstatfs: returning("i32", "i32", "buffer"),
  statfsElsewhere: { ...STATFS, name: "statfs", nonblocking: true },
  mount: returning("i32", "buffer", "buffer", "buffer", "u64", "buffer"),
  umount2: returning("i32", "buffer", "i32"),
  socketpair: returning("i32", "i32", "i32", "i32", "buffer"),
  recvmsg: returning("i32", "i32", "buffer", "i32"),
  getpeername: returning("i32", "i32", "buffer", "buffer"),
  getsockname: returning("i32", "i32", "buffer", "buffer"),
  setsockopt: returning("i32", "i32", "i32", "i32", "buffer", "u32"),
  shutdown: returning("i32", "i32", "i32"),

  memmove: returning("u64", "buffer", "buffer", "usize"),
  mmap: returning("u64", "pointer", "usize", "i32", "i32", "i32", "i64"),
  munmap: returning("i32", "u64", "usize"),
  madvise: returning("i32", "buffer", "usize", "i32"),
  mallopt: returning("i32", "i32", "i32"),
  mallocTrim: { ...returning("i32", "usize"), name: "malloc_trim" },
  memfdCreate: { ...returning("i32", "buffer", "u32"), name: "memfd_create" },
  /** Also copies from this process's own memory, and fails where touching it would kill the process. */
  processVmReadv: {
    ...returning("i32", "i32", "buffer", "u32", "buffer", "u32", "u32"),
    name: "process_vm_readv",
  },

  getrlimit: returning("i32", "i32", "buffer"),
  setrlimit: returning("i32", "i32", "buffer"),
  geteuid: returning("u32"),
  getuid: returning("u32"),
  getgid: returning("u32"),
  getegid: returning("u32"),
  getgroups: returning("i32", "i32", "buffer"),
  syscall: returning("i32", "i64", "i64", "i64"),
  /** With five arguments: number of the call, descriptor, signal, address and flags. */
  syscallOfSignal: {
    ...returning("i32", "i64", "i64", "i64", "i64", "i64"),
    name: "syscall",
  },
  strerror: returning("pointer", "i32"),
  errnoLocation: { ...returning("pointer"), name: "__errno_location" },
} as const satisfies Deno.ForeignLibraryInterface;

export type Libc = Deno.DynamicLibrary<typeof FUNCTIONS>["symbols"];

export type ErrnoFunctions = Pick<Libc, "errnoLocation" | "strerror">;

/** Returns the library, with each function opened on first use, which may throw. */
export function openLazily(): Libc {
  const libc = {} as Libc;
  for (const name of Object.keys(FUNCTIONS) as (keyof Libc)[]) {
    Object.defineProperty(libc, name, {
      configurable: true,
      get() {
        // Opening all of them takes as long as mounting.
        const functions = { [name]: FUNCTIONS[name] };
        const value = Deno.dlopen("libc.so.6", functions).symbols[name];
        Object.defineProperty(libc, name, { value });
        return value;
      },
    });
  }
  return libc;
}

let opened: Libc | undefined;
let isAbsent = false;

/** Returns the library; `undefined` without `--allow-ffi` or outside Linux with the GNU C library. Never prompts. */
export function libcIfPermitted(): Libc | undefined {
  if (opened !== undefined || isAbsent) return opened;
  // Permission may be granted later.
  if (Deno.build.os !== "linux" || !isFfiPermitted()) return undefined;
  try {
    const libc = openLazily();
    libc.errnoLocation; // opened after another call, it might change that call's errno
    opened = libc;
  } catch {
    isAbsent = true;
  }
  return opened;
}

/** Returns what {@linkcode libcIfPermitted} lacks, for messages: "it needs …". */
export function neededForLibc(): string {
  if (Deno.build.os !== "linux") return "Linux";
  return isFfiPermitted() ? "the GNU C library" : "--allow-ffi";
}

/** Whether libraries may be opened. Never prompts. */
export function isFfiPermitted(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/** Returns the error number of the previous call on this thread. */
export function errnoOf(libc: Pick<Libc, "errnoLocation">): number {
  const location = libc.errnoLocation();
  return location === null
    ? 0
    : new Deno.UnsafePointerView(location).getInt32();
}

/** Returns the C library's text for an error, such as "Permission denied". */
export function textOf(libc: Pick<Libc, "strerror">, errno: number): string {
  const text = libc.strerror(errno);
  return text === null
    ? `error ${errno}`
    : Deno.UnsafePointerView.getCString(text);
}

/** Returns the error of the previous call. Must be called right after it, on the same thread. */
export function lastError(libc: ErrnoFunctions): SystemError {
  const errno = errnoOf(libc);
  return new SystemError(errno, textOf(libc, errno).toLowerCase());
}
