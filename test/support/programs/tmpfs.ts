import assert from "node:assert/strict";
import { withTempDir } from "../paths.ts";

/**
 * Runs `body` with a file system in memory of limited size; needs root.
 *
 * @param size Size for tmpfs, such as `1m`.
 * @param parent Directory to mount in. To be visible in the namespace of a mount place, it must be the place's
 * directory.
 */
export async function withTmpfs(
  size: string,
  body: (
    dir: string,
    /** Changes a mount option, such as `ro`. */
    remount: (option: string) => Promise<void>,
  ) => Promise<void>,
  parent?: string,
): Promise<void> {
  const within = parent === undefined
    ? withTempDir
    : async (use: (dir: string) => Promise<void>) =>
      await use(await Deno.makeTempDir({ dir: parent }));
  await within(async (dir) => {
    await run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir);
    try {
      await body(
        dir,
        (option) => runInUse("mount", "-o", `remount,${option}`, dir),
      );
    } finally {
      await runInUse("umount", dir);
    }
  });
}

/** Retries while the file system is busy: a process that is being started briefly holds copies of open descriptors. */
async function runInUse(program: string, ...args: string[]): Promise<void> {
  for (let left = 50;; left--) {
    try {
      return await run(program, ...args);
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
}
