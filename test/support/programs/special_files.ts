import assert from "node:assert/strict";
import * as fs from "node:fs";

/**
 * Creates entries that must not be mistaken for a user's own regular file. Devices and other users' files need root.
 *
 * @param victim Target of links.
 */
export const SPECIAL_FILES: Readonly<
  Record<string, (path: string, victim: string) => void>
> = {
  "a pipe": (path) => succeed("mkfifo", path),
  "a symbolic link": (path, victim) => fs.symlinkSync(victim, path),
  "a dangling link": (path) => fs.symlinkSync("/nowhere/at/all", path),
  "a hard link": (path, victim) => fs.linkSync(victim, path),
  "a directory": (path) => fs.mkdirSync(path),
  "a device": (path) => succeed("mknod", path, "c", "1", "5"), // /dev/zero, which never ends
  "another user's file": (path) => {
    fs.writeFileSync(path, "{}");
    fs.chownSync(path, 65534, 65534);
  },
  // A sparse file, larger than any reader should accept.
  "a file of 10 GB": (path) => {
    fs.writeFileSync(path, "");
    fs.truncateSync(path, 10 * 2 ** 30);
  },
};

/** Kinds that need root. */
export const OF_ROOT: ReadonlySet<string> = new Set([
  "a device",
  "another user's file",
]);

function succeed(program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
}
