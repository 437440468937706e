import { type MountOptions, mountTree } from "../../../fuse/mount.ts";
import type { Mount } from "../../../fuse/mount_handle.ts";
import type { Tree } from "../../../src/tree/tree.ts";

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;

/** Why tests that mount as root are left out here; `false` where they run. */
export const cannotMountAsRoot: string | false = !exists("/dev/fuse")
  ? "there is no /dev/fuse"
  : !isRoot
  ? "this is not root"
  : false;

/** Why tests that mount as an ordinary user are left out here; `false` where they run. */
export const cannotMountAsUser: string | false = cannotMountAsRoot ||
  (exists("/usr/bin/fusermount3") || exists("/bin/fusermount3")
    ? false
    : "there is no fusermount3");

/** Registers a test that mounts as root; where it can't, it is reported with the reason. */
export function mountTest(name: string, run: () => Promise<void>): void {
  register(name, cannotMountAsRoot, run);
}

/** Registers a test that mounts as an ordinary user. */
export function userMountTest(name: string, run: () => Promise<void>): void {
  register(name, cannotMountAsUser, run);
}

/** Runs with a new empty directory as mount point. */
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
  await Deno.remove(directory); // fails, as it should, where a mount was left
}

/** Runs with a mounted tree. */
export function withMount(
  tree: Tree,
  options: MountOptions,
  run: (mount: Mount) => Promise<void>,
): Promise<void> {
  return withMountpoint(async (mountpoint) => {
    await using mount = await mountTree(tree, mountpoint, options);
    await run(mount);
  });
}

/** Runs a program and gives what it printed. */
export async function output(
  program: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = await new Deno.Command(program, { args, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

function register(
  name: string,
  reason: string | false,
  fn: () => Promise<void>,
): void {
  Deno.test({
    name: reason === false ? name : `${name} (left out: ${reason})`,
    ignore: reason !== false,
    fn,
  });
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
