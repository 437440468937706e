import { RecordfsError } from "../../base/errors.ts";

/**
 * Refuses to go on with what has been closed.
 *
 * @throws {RecordfsError} With code `closed`.
 */
export function requireOpen(path: string, isClosed: boolean): void {
  if (!isClosed) return;
  throw new RecordfsError("closed", `${path} has been closed`, { path });
}
