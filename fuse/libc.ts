import { errnoOf, type Libc, openLazily, textOf } from "../src/io/libc/libc.ts";
import { MountError } from "./mounting/mount_error.ts";

let opened: Libc | undefined;

/**
 * Returns the C library. Each function is opened at its first use, once per thread.
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
  const libc = openLazily();
  try {
    libc.errnoLocation; // opening it after a failed call might change that call's errno
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new MountError(
      "unsupported",
      "Cannot mount: the GNU C library (libc.so.6) cannot be opened",
      { cause: error },
    );
  }
  return opened = libc;
}

/** Error number of the last call. Valid only directly after a failed synchronous call. */
export function lastErrno(): number {
  return errnoOf(libc());
}

/** Message of the C library for an error, such as "Permission denied". */
export function errorText(errno: number): string {
  return textOf(libc(), errno);
}

export function cString(text: string): Uint8Array<ArrayBuffer> {
  if (text.includes("\0")) {
    throw new TypeError(`${JSON.stringify(text)} contains a NUL`);
  }
  return new TextEncoder().encode(`${text}\0`);
}

/** Address of a buffer's memory. It is below 2^47, so exact as a number. */
export function addressOf(bytes: Uint8Array<ArrayBufferLike>): number {
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes)));
}
