import { IndexError, RecordfsError } from "../../../errors.ts";

/** @throws {IndexError} If there is no such datapoint. */
export function requireDatapoint(
  path: string,
  index: number,
  length: number,
): void {
  if (Number.isSafeInteger(index) && index >= 0 && index < length) return;
  throw new IndexError(index, length, path, 0, "datapoint");
}

/** @throws {RecordfsError} If a reader has been closed. */
export function requireOpen(path: string, closed: boolean): void {
  if (!closed) return;
  throw new RecordfsError("closed", `${path} has been closed`, { path });
}
