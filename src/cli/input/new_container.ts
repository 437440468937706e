import * as fs from "node:fs";
import { RecordfsError, WriteError } from "../../base/errors.ts";
import { recordFilePath } from "../../formats/ffrecord/write/record_paths.ts";
import { asUsage } from "../exit.ts";
import { checkGiven } from "./given.ts";
import type { CommonOptions } from "./options.ts";

/**
 * Makes sure that an `.ffr` file may be written, before much is read for it.
 *
 * @throws {UsageError} If no FFRecord file can have that name.
 * @throws {RecordfsError} If it is there and not to be replaced.
 */
export function checkNewFile(out: string, options: CommonOptions): void {
  checkGiven(out, "the new file");
  asUsage(WriteError, () => recordFilePath(out));
  checkAbsent(out, options);
}

/** @throws {RecordfsError} If a file is there and not to be replaced. */
export function checkAbsent(out: string, options: CommonOptions): void {
  if (options.force === true || !exists(out)) return;
  throw new RecordfsError(
    "exists",
    `${out} exists already; --force replaces it`,
    { path: out },
  );
}

/** Whether there is anything of that name, be it a link to nowhere. */
function exists(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false; // what is wrong with it is said when it is written
  }
}
