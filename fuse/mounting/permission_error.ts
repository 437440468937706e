import { MountError } from "./mount_error.ts";

/** Runs an action, and turns a missing Deno permission into a {@linkcode MountError}. */
export async function withPermissionErrors<T>(
  mountpoint: string,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    throw new MountError(
      "permission",
      `Cannot mount or unmount ${mountpoint}: Deno was not given a permission: ${error.message}. ` +
        "Run with --allow-ffi without a value, --allow-read, and, without root, " +
        "--allow-run=fusermount3",
      { path: mountpoint, cause: error },
    );
  }
}
