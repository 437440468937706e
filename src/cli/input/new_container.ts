import type { Command } from "commander";
import * as fs from "node:fs";
import { RecordfsError, WriteError } from "../../errors.ts";
import { recordFilePath } from "../../formats/ffrecord/write/record_paths.ts";
import { UsageError } from "../exit.ts";
import { checkGiven } from "./given.ts";

/** Options of every command that writes a container. */
export interface NewContainerOptions {
  readonly force?: true;
  readonly json?: true;
}

/** Adds `--force` and `--json`. */
export function withNewContainerOptions(command: Command): Command {
  return command
    .option("-f, --force", "replace a file that is there already")
    .option("--json", "say what was written as JSON");
}

/**
 * Makes sure that an `.ffr` file may be written, before much is read for it.
 *
 * @throws {UsageError} If no FFRecord file can have that name.
 * @throws {RecordfsError} If it is there and not to be replaced.
 */
export function checkNewFile(out: string, options: NewContainerOptions): void {
  checkGiven(out, "the new file");
  try {
    recordFilePath(out);
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    throw new UsageError(error.message);
  }
  checkAbsent(out, options);
}

/** @throws {RecordfsError} If a file is there and not to be replaced. */
export function checkAbsent(out: string, options: NewContainerOptions): void {
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
