import * as fs from "node:fs";
import { openError } from "./file_source.ts";
import type { Effect } from "./steps.ts";

/**
 * Reads the names in a directory, in no order; `undefined` where the path is none.
 *
 * @throws {RecordfsError} If there is nothing, or it can't be read.
 */
export function readDirectory(path: string): Effect<string[] | undefined> {
  return {
    sync() {
      try {
        return fs.readdirSync(path);
      } catch (error) {
        return notADirectory(path, error);
      }
    },
    async async() {
      try {
        return await fs.promises.readdir(path);
      } catch (error) {
        return notADirectory(path, error);
      }
    },
  };
}

function notADirectory(path: string, error: unknown): undefined {
  if ((error as { code?: unknown }).code === "ENOTDIR") return undefined;
  throw openError(path, error);
}
