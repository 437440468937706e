import { mountTree, type MountTreeOptions } from "../../../fuse/mount.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import type { Tree } from "../../../src/tree/tree.ts";
import { needs } from "../../support/programs/programs.ts";

/** Registers a test that mounts as root. */
export function mountTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ...needs("fuse", "root"), fn });
}

/** Registers a test that mounts as an ordinary user; needs root. */
export function userMountTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ...needs("fuse", "root", "fusermount3"), fn });
}

/** Runs `run` with a new empty directory as mount point. */
export async function withMountpoint(
  run: (mountpoint: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "recordfs_test_" });
  try {
    await run(directory);
  } catch (error) {
    await output("umount", "-l", directory); // a failed test may have left its mount
    await Deno.remove(directory);
    throw error;
  }
  await Deno.remove(directory); // fails if a mount is left
}

/** Runs `run` with a mounted tree. */
export function withMount(
  tree: Tree,
  options: MountTreeOptions,
  run: (mount: Mount) => Promise<void>,
): Promise<void> {
  return withMountpoint(async (mountpoint) => {
    await using mount = await mountTree(tree, mountpoint, options);
    await run(mount);
  });
}

/** Runs a program and returns its output, in English. */
export async function output(
  program: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { LC_ALL: "C" };
  const output = await new Deno.Command(program, { args, env, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}
