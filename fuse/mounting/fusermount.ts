import { MountError } from "./mount_error.ts";

/**
 * Runs fusermount3, the set-user-id program that mounts and unmounts for ordinary users.
 *
 * @returns Whether it succeeded, and its error output.
 */
export async function runFusermount(
  mountpoint: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ success: boolean; words: string }> {
  try {
    const { success, stderr } = await new Deno.Command("fusermount3", {
      args: [...args],
      // Its output is parsed, so it must not be translated.
      env: { LC_ALL: "C", ...env },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    const words = new TextDecoder().decode(stderr).trim()
      .replaceAll(/^fusermount3: /gm, "").replaceAll(/\s*\n\s*/g, "; ");
    return { success, words };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new MountError(
      "no-fusermount",
      `Cannot mount or unmount ${mountpoint} without root: fusermount3 is not in PATH. ` +
        "Install the package fuse3",
      { path: mountpoint, cause: error },
    );
  }
}
