import { RecordfsError } from "../../errors.ts";
import { systemCode } from "../libc/system_error.ts";

/**
 * The working directory.
 *
 * @throws {RecordfsError} With code `ENOENT` if it was removed.
 */
export function workingDirectory(): string {
  try {
    return Deno.cwd();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new RecordfsError(
      "ENOENT",
      "The working directory was removed, so that paths from there lead nowhere: go to another one (`cd`), " +
        "or give whole paths",
      { cause: error },
    );
  }
}
