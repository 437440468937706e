/**
 * Makes this process, and the programs that it starts, independent of the machine's environment. Loaded before a test
 * looks for a program, and by `test/run.ts` for all tests.
 *
 * @module
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

/** Directories of Debian's programs. An ordinary user's PATH lacks some of them. */
const SYSTEM_PROGRAMS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

const others = (Deno.env.get("PATH") ?? "").split(":")
  .filter((dir) => dir !== "" && !SYSTEM_PROGRAMS.includes(dir));
// Debian's programs take precedence over others in PATH.
Deno.env.set("PATH", [...SYSTEM_PROGRAMS, ...others].join(":"));

// script(1) runs commands by this shell.
Deno.env.set("SHELL", "/bin/sh");

// They would import modules of other Python environments.
for (const name of Object.keys(Deno.env.toObject())) {
  if (name.startsWith("PYTHON")) Deno.env.delete(name);
}
Deno.env.set("PYTHONUTF8", "1"); // whatever the locale

// Tests as root let other users read files in temporary directories.
if (Deno.uid() === 0 && !everybodyEnters(tmpdir())) {
  Deno.env.set("TMPDIR", "/tmp");
}

/** Whether every user may enter a directory and its parents. */
export function everybodyEnters(dir: string): boolean {
  const above = dirname(dir);
  return (fs.statSync(dir).mode & 0o001) !== 0 &&
    (above === dir || everybodyEnters(above));
}
