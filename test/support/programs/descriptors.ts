import * as fs from "node:fs";

/** Counts this process's open descriptors of files below a directory. */
export async function descriptorsBelow(dir: string): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir("/proc/self/fd")) {
    try {
      const target = await Deno.readLink(`/proc/self/fd/${name}`);
      if (target.startsWith(`${dir}/`)) count++;
    } catch {
      // closed meanwhile: the tests of other files run in the same process
    }
  }
  return count;
}

/** Synchronous {@linkcode descriptorsBelow}. */
export function descriptorsBelowNow(dir: string): number {
  return fs.readdirSync("/proc/self/fd").filter((name) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${name}`).startsWith(`${dir}/`);
    } catch {
      return false; // closed meanwhile: the tests of other files run in the same process
    }
  }).length;
}
