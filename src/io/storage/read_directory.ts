import { openError } from "./file_source.ts";
import type { Effect } from "../concurrency/steps.ts";
import { systemCode } from "../libc/system_error.ts";

/**
 * Reads the names in a directory, in no order; `undefined` where the path is none.
 *
 * @throws {RecordfsError} If there is nothing, or it can't be read.
 */
export function readDirectory(path: string): Effect<string[] | undefined> {
  return {
    sync() {
      try {
        return Array.from(Deno.readDirSync(path), ({ name }) => name);
      } catch (error) {
        return notADirectory(path, error);
      }
    },
    async async() {
      try {
        return await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
      } catch (error) {
        return notADirectory(path, error);
      }
    },
  };
}

function notADirectory(path: string, error: unknown): undefined {
  if (systemCode(error) === "ENOTDIR") return undefined;
  throw openError(path, error);
}
