/** Runs other programs as clients of a server, and prepares files for them to copy. */
import assert from "node:assert/strict";
import { encodeName } from "../../../src/base/names.ts";
import type { Files } from "./served_folder.ts";

/** Runs a program, which must succeed, and returns its output. */
export async function run(
  program: string,
  args: readonly string[],
  { input = "", env = {}, cwd }: {
    readonly input?: string;
    readonly env?: Record<string, string>;
    readonly cwd?: string;
  } = {},
): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    env,
    ...cwd === undefined ? {} : { cwd },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [output] = await Promise.all([
    child.output(),
    new Blob([input]).stream().pipeTo(child.stdin).catch(() => {}),
  ]);
  const text = new TextDecoder().decode(output.stdout);
  const errors = new TextDecoder().decode(output.stderr);
  assert.ok(output.success, `${program}: ${text}${errors}`);
  return text;
}

/** Runs `use` with a temporary directory that has the files in `original`. */
export async function withOriginal(
  files: Files,
  use: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${directory}/original`);
    await write(files, `${directory}/original`);
    await use(directory);
  } finally {
    await run("rm", ["-rf", directory]); // Deno cannot remove names that are not UTF-8
  }
}

/** Writes files to a directory. */
async function write(files: Files, directory: string): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = `${directory}/${name}`;
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    if (!path.isWellFormed()) await writeByShell(path, bytes);
    else if (bytes instanceof Uint8Array) await Deno.writeFile(path, bytes);
    else await Deno.mkdir(path);
    if (!(bytes instanceof Uint8Array)) await write(bytes, path);
  }
}

/** Creates a small file or a directory by the shell, since Deno cannot create paths that are not UTF-8. */
async function writeByShell(
  path: string,
  content: Files | Uint8Array,
): Promise<void> {
  const word = `"$(printf '${octal(encodeName(path))}')"`;
  const line = content instanceof Uint8Array
    ? `printf '${octal(content)}' > ${word}`
    : `mkdir ${word}`;
  await run("/bin/sh", ["-c", line]);
}

function octal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`)
    .join("");
}
