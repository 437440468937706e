import assert from "node:assert/strict";
import * as fs from "node:fs";

/**
 * Makes what a file of one's own must not be taken for, by its kind. What takes root makes a device and another user's
 * file.
 *
 * @param victim A file that links lead to.
 */
export const SPECIAL_FILES: Readonly<
  Record<string, (path: string, victim: string) => void>
> = {
  pipe: (path) => succeed("mkfifo", path),
  "symbolic link": (path, victim) => fs.symlinkSync(victim, path),
  "dangling link": (path) => fs.symlinkSync("/nowhere/at/all", path),
  "hard link": (path, victim) => fs.linkSync(victim, path),
  directory: (path) => fs.mkdirSync(path),
  device: (path) => succeed("mknod", path, "c", "1", "5"), // /dev/zero, which has no end
  "another user's": (path) => {
    fs.writeFileSync(path, "{}");
    fs.chownSync(path, 65534, 65534);
  },
  // More than anybody reads; it takes no room.
  "very large": (path) => {
    fs.writeFileSync(path, "");
    fs.truncateSync(path, 10 * 2 ** 30);
  },
};

/** Kinds that take root. */
export const OF_ROOT: ReadonlySet<string> = new Set([
  "device",
  "another user's",
]);

function succeed(program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
}
