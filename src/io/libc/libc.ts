/**
 * The C library, for what Deno does not offer. It is opened here only, and never asked for: where FFI is not
 * permitted, callers do without or say so.
 *
 * @module
 */
import { SystemError } from "./system_error.ts";

const STATFS = { parameters: ["buffer", "buffer"], result: "i32" } as const;
const FACCESSAT = {
  parameters: ["i32", "buffer", "i32", "i32"],
  result: "i32",
} as const;
const POLL = { parameters: ["buffer", "u32", "i32"], result: "i32" } as const;

/**
 * Everything that is called. 64-bit results that are small in practice are declared `i32`, since a
 * number costs a tenth of a BigInt; on the little-endian machines that Deno runs on, the low half is
 * what is returned.
 *
 * What is called `…Elsewhere` runs on another thread, where its errno is lost: for calls that may wait for a
 * server, or for as long as they are told to.
 */
const FUNCTIONS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  openat: { parameters: ["i32", "buffer", "i32", "u32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "u32", "i64"], result: "i32" },
  preadv2: {
    parameters: ["i32", "buffer", "i32", "i64", "i32"],
    result: "i32",
  },
  write: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  writev: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  lseek: { parameters: ["i32", "i64", "i32"], result: "i64" },
  ftruncate: { parameters: ["i32", "i64"], result: "i32" },
  futimens: { parameters: ["i32", "buffer"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  poll: POLL,
  pollElsewhere: { ...POLL, name: "poll", nonblocking: true },

  statx: {
    parameters: ["i32", "buffer", "i32", "u32", "buffer"],
    result: "i32",
  },
  faccessat: FACCESSAT,
  accessElsewhere: { ...FACCESSAT, name: "faccessat", nonblocking: true },
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  mkdirat: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  renameat: { parameters: ["i32", "buffer", "i32", "buffer"], result: "i32" },
  linkat: {
    parameters: ["i32", "buffer", "i32", "buffer", "i32"],
    result: "i32",
  },
  unlinkat: { parameters: ["i32", "buffer", "i32"], result: "i32" },

  statfs: STATFS,
  statfsElsewhere: { ...STATFS, name: "statfs", nonblocking: true },
  mount: {
    parameters: ["buffer", "buffer", "buffer", "u64", "buffer"],
    result: "i32",
  },
  umount2: { parameters: ["buffer", "i32"], result: "i32" },
  socketpair: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32" },
  recvmsg: { parameters: ["i32", "buffer", "i32"], result: "i32" },

  memmove: { parameters: ["buffer", "buffer", "usize"], result: "u64" },
  mmap: {
    parameters: ["pointer", "usize", "i32", "i32", "i32", "i64"],
    result: "u64",
  },
  munmap: { parameters: ["u64", "usize"], result: "i32" },
  memfdCreate: {
    name: "memfd_create",
    parameters: ["buffer", "u32"],
    result: "i32",
  },
  /** Copies from this process's own memory too, and fails where touching it would kill. */
  processVmReadv: {
    name: "process_vm_readv",
    parameters: ["i32", "buffer", "u32", "buffer", "u32", "u32"],
    result: "i32",
  },

  getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  geteuid: { parameters: [], result: "u32" },
  getuid: { parameters: [], result: "u32" },
  getgid: { parameters: [], result: "u32" },
  syscall: { parameters: ["i64", "i64", "i64"], result: "i32" },
  strerror: { parameters: ["i32"], result: "pointer" },
  errnoLocation: {
    name: "__errno_location",
    parameters: [],
    result: "pointer",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The C library's functions, ready to be called. */
export type Libc = Deno.DynamicLibrary<typeof FUNCTIONS>["symbols"];

/** Those that tell what a call was refused for. */
export type ErrnoFunctions = Pick<Libc, "errnoLocation" | "strerror">;

/** Opens functions of the library; to open all of them takes as long as to mount. */
function dlopen<Name extends keyof Libc>(
  names: readonly Name[],
): Pick<Libc, Name> {
  const functions = Object.fromEntries(
    names.map((name) => [name, FUNCTIONS[name]]),
  );
  return Deno.dlopen("libc.so.6", functions).symbols as Pick<Libc, Name>;
}

/** The library, each function of which is opened when it is first called for; then it may throw. */
export function openLazily(): Libc {
  const libc = {} as Libc;
  for (const name of Object.keys(FUNCTIONS) as (keyof Libc)[]) {
    Object.defineProperty(libc, name, {
      configurable: true,
      get() {
        const value = dlopen([name])[name];
        Object.defineProperty(libc, name, { value });
        return value;
      },
    });
  }
  return libc;
}

/** Functions that belong together, opened when they are first called for. */
export class LibcFunctions<Name extends keyof Libc> {
  readonly #names: readonly Name[];
  #opened: Pick<Libc, Name> | undefined;
  #absent = false;

  /** @param names What is needed. */
  constructor(...names: Name[]) {
    this.#names = names;
  }

  /**
   * The functions, or `undefined` where there are none: without `--allow-ffi`, or where this is not Linux
   * with the GNU C library.
   */
  open(): Pick<Libc, Name> | undefined {
    if (this.#opened !== undefined || this.#absent) return this.#opened;
    // It may be permitted later.
    if (Deno.build.os !== "linux" || !isPermitted()) return undefined;
    try {
      this.#opened = dlopen(this.#names);
    } catch {
      this.#absent = true;
    }
    return this.#opened;
  }

  /** Why {@linkcode LibcFunctions.open} has none, for a message: "it needs …". */
  get need(): string {
    if (Deno.build.os !== "linux") return "Linux";
    return isPermitted() ? "the GNU C library" : "--allow-ffi";
  }
}

function isPermitted(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/** The error number of the call just made, on the same thread. */
export function errnoOf(libc: Pick<Libc, "errnoLocation">): number {
  const location = libc.errnoLocation();
  return location === null
    ? 0
    : new Deno.UnsafePointerView(location).getInt32();
}

/** The C library's words for an error, such as "Permission denied". */
export function textOf(libc: Pick<Libc, "strerror">, errno: number): string {
  const text = libc.strerror(errno);
  return text === null
    ? `error ${errno}`
    : Deno.UnsafePointerView.getCString(text);
}

/** Says what a call was refused for. Right only straight after it, on the same thread. */
export function lastError(libc: ErrnoFunctions): SystemError {
  const errno = errnoOf(libc);
  return new SystemError(errno, textOf(libc, errno).toLowerCase());
}
