/**
 * Files whose names need not be UTF-8. Deno's own functions take names as strings and would write
 * other names; for names with bytes that are not UTF-8 (lone surrogates in the string) the C library
 * is called instead, which takes `--allow-ffi`.
 *
 * @module
 */
import * as fs from "node:fs";
import { RecordfsError } from "../errors.ts";
import { encodeName } from "../names.ts";

/** What there is of a name; a symbolic link is not followed. */
export type EntryKind = "none" | "file" | "directory" | "symlink" | "other";

/** `AT_FDCWD`, `AT_SYMLINK_NOFOLLOW` and `STATX_TYPE` of `linux/fcntl.h` and `linux/stat.h`. */
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_TYPE = 1;
/** Size of `struct statx`, and offset of its `stx_mode` (16 bits). */
const STATX_SIZE = 256;
const STX_MODE = 28;
/** `S_IFMT` and the types under it, from `linux/stat.h`. */
const S_IFMT = 0o170000;
const KINDS: Record<number, EntryKind> = {
  0o040000: "directory",
  0o100000: "file",
  0o120000: "symlink",
};

/** `ENOENT` of `asm-generic/errno-base.h`. */
const ENOENT = 2;

/** Says what a path is. */
export function kindOf(path: string): EntryKind {
  if (!path.isWellFormed()) return exactKindOf(path);
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "none";
  return KINDS[stat.mode & S_IFMT] ?? "other";
}

/** Makes a directory, as mkdir(2). */
export function makeDirectory(path: string): void {
  if (path.isWellFormed()) fs.mkdirSync(path);
  else if (libc().mkdir(cString(path), 0o777) !== 0) {
    throw failure("make", path);
  }
}

/** Renames a file, as rename(2). */
export function rename(from: string, to: string): void {
  if (from.isWellFormed() && to.isWellFormed()) fs.renameSync(from, to);
  else if (libc().rename(cString(from), cString(to)) !== 0) {
    throw failure("write", to);
  }
}

function exactKindOf(path: string): EntryKind {
  const stat = new Uint8Array(STATX_SIZE);
  const flags = AT_SYMLINK_NOFOLLOW;
  const { statx } = libc();
  if (statx(AT_FDCWD, cString(path), flags, STATX_TYPE, stat) === 0) {
    const mode = new DataView(stat.buffer).getUint16(STX_MODE, true);
    return KINDS[mode & S_IFMT] ?? "other";
  }
  if (lastErrno() === ENOENT) return "none";
  throw failure("look at", path);
}

const functions = {
  mkdir: { parameters: ["buffer", "u32"], result: "i32" },
  rename: { parameters: ["buffer", "buffer"], result: "i32" },
  statx: {
    parameters: ["i32", "buffer", "i32", "u32", "buffer"],
    result: "i32",
  },
  errnoLocation: {
    name: "__errno_location",
    parameters: [],
    result: "pointer",
  },
} as const;

let opened: Deno.DynamicLibrary<typeof functions>["symbols"] | undefined;

function libc(): Deno.DynamicLibrary<typeof functions>["symbols"] {
  if (opened !== undefined) return opened;
  try {
    opened = Deno.dlopen("libc.so.6", functions).symbols;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new RecordfsError(
      "unsupported",
      "File names that are not UTF-8 can only be written on Linux with the " +
        "GNU C library",
      { cause: error },
    );
  }
  return opened;
}

function lastErrno(): number {
  const location = libc().errnoLocation();
  return location === null
    ? 0
    : new Deno.UnsafePointerView(location).getInt32();
}

function failure(action: string, path: string): RecordfsError {
  return new RecordfsError(
    "refused",
    `Cannot ${action} ${path}: the system refused (errno ${lastErrno()})`,
    { path },
  );
}

function cString(text: string): Uint8Array<ArrayBuffer> {
  const name = encodeName(text);
  const bytes = new Uint8Array(name.length + 1);
  bytes.set(name);
  return bytes;
}
