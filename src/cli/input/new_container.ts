import * as fs from "node:fs";
import { RecordfsError, WriteError } from "../../base/errors.ts";
import { recordFilePath } from "../../formats/ffrecord/write/record_paths.ts";
import { asUsage } from "../exit.ts";
import { checkGiven } from "./given.ts";
import type { CommonOptions } from "./options.ts";

/**
 * Checks that an `.ffr` file may be written, before its input is read.
 *
 * @throws {UsageError} If the name is invalid for an FFRecord file.
 * @throws {RecordfsError} If it exists and must not be replaced.
 */
export function checkNewFile(out: string, options: CommonOptions): void {
  checkGiven(out, "the new file");
  asUsage(WriteError, () => recordFilePath(out));
  checkAbsent(out, options);
}

/** @throws {RecordfsError} If the file exists and must not be replaced. */
export function checkAbsent(out: string, options: CommonOptions): void {
  if (options.force === true || !exists(out)) return;
  throw new RecordfsError(
    "exists",
    `Cannot write ${out}: it exists. Replace it with --force`,
    { path: out },
  );
}

/** Whether anything has that name, even a dangling link. */
function exists(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false; // writing reports the error
  }
}
