/**
 * Has this process, and the programs that it starts, depend on less of the machine: loaded before a test looks for a
 * program, and by `test/run.ts` for all tests.
 *
 * @module
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

/** Directories of the programs that Debian's packages bring. An ordinary user's PATH lacks some of them. */
const SYSTEM_PROGRAMS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

const others = (Deno.env.get("PATH") ?? "").split(":")
  .filter((dir) => dir !== "" && !SYSTEM_PROGRAMS.includes(dir));
// The setup's programs come first, not those of another kind that PATH names before them.
Deno.env.set("PATH", [...SYSTEM_PROGRAMS, ...others].join(":"));

// script(1) runs commands by it.
Deno.env.set("SHELL", "/bin/sh");

// Modules of other environments of Python would be imported first.
for (const name of Object.keys(Deno.env.toObject())) {
  if (name.startsWith("PYTHON")) Deno.env.delete(name);
}
Deno.env.set("PYTHONUTF8", "1"); // whatever the locale

// Root's tests have other users read what lies in temporary directories.
if (Deno.uid() === 0 && !everybodyEnters(tmpdir())) {
  Deno.env.set("TMPDIR", "/tmp");
}

/** Whether every user may reach what lies in a directory. */
export function everybodyEnters(dir: string): boolean {
  const above = dirname(dir);
  return (fs.statSync(dir).mode & 0o001) !== 0 &&
    (above === dir || everybodyEnters(above));
}
