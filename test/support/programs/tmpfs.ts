import assert from "node:assert/strict";
import { withTempDir } from "../paths.ts";

/**
 * Runs `body` with a file system in memory, of limited size; needs root.
 *
 * @param size As tmpfs takes it, such as `1m`.
 * @param parent Directory to mount below: that of a place to mount at, where its mount namespace is to see it.
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

/** A process that is just being started has a copy of what is open for a moment, so that the file system is in use. */
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
