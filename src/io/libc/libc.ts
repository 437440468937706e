/**
 * The C library, for what Deno does not offer. Its functions are never asked for: where FFI is not
 * permitted, callers do without or say so.
 *
 * @module
 */
import { SystemError } from "./system_error.ts";

/** Functions of the C library, opened when they are first called for. */
export class LibcFunctions<
  const Functions extends Deno.ForeignLibraryInterface,
> {
  readonly #functions: Functions;
  #opened: Deno.DynamicLibrary<Functions>["symbols"] | undefined;
  #absent = false;

  /** @param functions What is needed. */
  constructor(functions: Functions) {
    this.#functions = functions;
  }

  /**
   * The functions, ready to be called, or `undefined` where there are none: without `--allow-ffi`, or
   * where this is not Linux with the GNU C library.
   */
  open(): Deno.DynamicLibrary<Functions>["symbols"] | undefined {
    if (this.#opened !== undefined || this.#absent) return this.#opened;
    // It may be permitted later.
    if (Deno.build.os !== "linux" || !isPermitted()) return undefined;
    try {
      this.#opened = Deno.dlopen("libc.so.6", this.#functions).symbols;
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

/** The function that says where errno is. */
export const ERRNO_LOCATION = {
  name: "__errno_location",
  parameters: [],
  result: "pointer",
} as const satisfies Deno.ForeignFunction;

/** The function that says what an error number means. */
export const STRERROR = {
  parameters: ["i32"],
  result: "pointer",
} as const satisfies Deno.ForeignFunction;

/** The error number of the call just made, on the same thread. */
export function errnoOf(
  libc: { readonly errnoLocation: () => Deno.PointerValue },
): number {
  const location = libc.errnoLocation();
  return location === null
    ? 0
    : new Deno.UnsafePointerView(location).getInt32();
}

/** Says what a call was refused for. Right only straight after it, on the same thread. */
export function lastError(
  libc: {
    readonly errnoLocation: () => Deno.PointerValue;
    readonly strerror: (errno: number) => Deno.PointerValue;
  },
): SystemError {
  const errno = errnoOf(libc);
  const text = libc.strerror(errno);
  return new SystemError(
    errno,
    text === null
      ? `error ${errno}`
      : Deno.UnsafePointerView.getCString(text).toLowerCase(),
  );
}
