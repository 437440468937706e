import { MountError } from "./mounting/mount_error.ts";

/**
 * The C library's functions. 64-bit results that are small in practice are declared `i32`, since a
 * number costs a tenth of a BigInt; on the little-endian machines that Deno runs on, the low half is
 * what is returned.
 */
const functions = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  write: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  writev: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "u32", "i64"], result: "i32" },
  /** Copies from this process's own memory too, and fails where touching it would kill. */
  processVmReadv: {
    name: "process_vm_readv",
    parameters: ["i32", "buffer", "u32", "buffer", "u32", "u32"],
    result: "i32",
  },
  statx: {
    parameters: ["i32", "buffer", "i32", "u32", "buffer"],
    result: "i32",
  },
  poll: { parameters: ["buffer", "u32", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  memfdCreate: {
    name: "memfd_create",
    parameters: ["buffer", "u32"],
    result: "i32",
  },
  ftruncate: { parameters: ["i32", "i64"], result: "i32" },
  mmap: {
    parameters: ["pointer", "usize", "i32", "i32", "i32", "i64"],
    result: "u64",
  },
  syscall: { parameters: ["i64", "i64", "i64"], result: "i32" },
  mount: {
    parameters: ["buffer", "buffer", "buffer", "u64", "buffer"],
    result: "i32",
  },
  umount2: { parameters: ["buffer", "i32"], result: "i32" },
  socketpair: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32" },
  recvmsg: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  geteuid: { parameters: [], result: "u32" },
  getuid: { parameters: [], result: "u32" },
  getgid: { parameters: [], result: "u32" },
  strerror: { parameters: ["i32"], result: "pointer" },
  errnoLocation: {
    name: "__errno_location",
    parameters: [],
    result: "pointer",
  },
  statfs: { parameters: ["buffer", "buffer"], result: "i32" },
  /** Runs on another thread, where its errno is lost: for calls that may wait for a server. */
  accessElsewhere: {
    name: "faccessat",
    parameters: ["i32", "buffer", "i32", "i32"],
    result: "i32",
    nonblocking: true,
  },
  /** Likewise. */
  statfsElsewhere: {
    name: "statfs",
    parameters: ["buffer", "buffer"],
    result: "i32",
    nonblocking: true,
  },
  /** Likewise: it waits for as long as it is told to. */
  pollElsewhere: {
    name: "poll",
    parameters: ["buffer", "u32", "i32"],
    result: "i32",
    nonblocking: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The functions of the C library, ready to be called. */
export type Libc = Deno.DynamicLibrary<typeof functions>["symbols"];

let opened: Libc | undefined;

/**
 * The C library. Each function is opened at its first use, once in each thread: to open all of them
 * takes as long as to mount.
 *
 * @throws {MountError} If this is not Linux with the GNU C library.
 * @throws {Deno.errors.NotCapable} Without `--allow-ffi`.
 */
export function libc(): Libc {
  if (opened !== undefined) return opened;
  if (Deno.build.os !== "linux") {
    throw new MountError(
      "unsupported",
      `Cannot mount on ${Deno.build.os}: mounting needs Linux`,
    );
  }
  opened = lazily();
  return opened;
}

function lazily(): Libc {
  const symbols = {} as Libc;
  for (const [name, definition] of Object.entries(functions)) {
    Object.defineProperty(symbols, name, {
      configurable: true,
      get() {
        const value = openFunction(name, definition);
        Object.defineProperty(symbols, name, { value });
        return value;
      },
    });
  }
  return symbols;
}

function openFunction(
  name: string,
  definition: Deno.ForeignFunction,
): unknown {
  try {
    return Deno.dlopen("libc.so.6", { [name]: definition }).symbols[name];
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new MountError(
      "unsupported",
      "Cannot mount: the GNU C library (libc.so.6) cannot be opened",
      { cause: error },
    );
  }
}

/** The error number of the last call. Right only straight after a synchronous call that failed. */
export function lastErrno(): number {
  const location = libc().errnoLocation();
  return location === null
    ? 0
    : new Deno.UnsafePointerView(location).getInt32();
}

/** What the C library calls an error, such as "Permission denied". */
export function errorText(errno: number): string {
  const text = libc().strerror(errno);
  return text === null
    ? `error ${errno}`
    : Deno.UnsafePointerView.getCString(text);
}

/** A NUL-terminated string. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  if (text.includes("\0")) {
    throw new TypeError(`${JSON.stringify(text)} contains a NUL`);
  }
  return new TextEncoder().encode(`${text}\0`);
}

/** Address of a buffer's memory: below 2^47, so exact as a number. */
export function addressOf(bytes: Uint8Array<ArrayBufferLike>): number {
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes)));
}
