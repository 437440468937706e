import { RecordfsError } from "../../base/errors.ts";

/** @throws {RecordfsError} With code `closed` if it is closed. */
export function requireOpen(path: string, isClosed: boolean): void {
  if (!isClosed) return;
  throw new RecordfsError("closed", `Cannot read ${path}: it has been closed`, {
    path,
  });
}
