import { RecordfsError, WriteError } from "../../../errors.ts";
import { IngestError, type IngestErrorCode } from "./ingest_error.ts";

/** An error on its way to another thread. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly path?: string | undefined;
  readonly stack?: string | undefined;
}

/** Makes an error ready to be sent. */
export function sendError(error: unknown): SentError {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error) };
  }
  const { name, message, stack } = error;
  if (!(error instanceof RecordfsError)) return { name, message, stack };
  return { name, message, code: error.code, path: error.path };
}

/** The error that was sent. */
export function receiveError(sent: SentError): Error {
  const { name, message, code, path, stack } = sent;
  if (code === undefined) {
    const error = new Error(message);
    error.name = name;
    if (stack !== undefined) error.stack = stack;
    return error;
  }
  if (name === "WriteError") return new WriteError(code, message, { path });
  if (name === "IngestError") {
    return new IngestError(code as IngestErrorCode, message, { path });
  }
  return new RecordfsError(code, message, { path });
}
