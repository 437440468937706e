import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { create } from "tar";
import type { PackedFile } from "./package/modules.ts";

/** As npm has it of all files of an archive; a time before 1980 is none to some programs. */
const TIME = new Date("1985-10-26T08:15:00Z");

/** Writes files into a directory. */
export function writeFiles(
  directory: string,
  files: readonly PackedFile[],
): void {
  for (const { path, bytes, isExecutable } of files) {
    const file = `${directory}/${path}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    Deno.chmodSync(file, isExecutable ? 0o755 : 0o644);
  }
}

/**
 * Packs files and links of a directory, such that the same files give the same bytes: in the order given, with one
 * time, and nobody's.
 *
 * @param paths From `cwd`.
 */
export function packArchive(
  archive: string,
  cwd: string,
  paths: readonly string[],
): void {
  mkdirSync(dirname(archive), { recursive: true });
  const options = { portable: true, noDirRecurse: true, mtime: TIME };
  create(
    { ...options, file: archive, cwd, gzip: { level: 9 }, sync: true },
    [...paths],
  );
}
