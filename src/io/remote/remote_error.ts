import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** Why a container on a server cannot be read. */
export type RemoteErrorCode =
  | "access-denied"
  | "bad-answer"
  | "no-ranges"
  | "redirect-loop"
  | "server-failed"
  | "unreachable"
  | "untrusted";

/** Facts about a failed request. */
export interface RemoteFacts extends ErrorFacts {
  /** HTTP status of the last response, if any. */
  readonly status?: number | undefined;
  /** Number of attempts. */
  readonly attempts?: number | undefined;
}

/** A server did not return what was requested. Neither the message nor the fields contain secrets. */
export class RemoteError extends RecordfsError<RemoteErrorCode> {
  /** HTTP status of the last response, if any. */
  readonly status: number | undefined;
  /** Number of attempts. */
  readonly attempts: number | undefined;

  /** Creates an error about the URL `path`, which must be without its query. */
  constructor(code: RemoteErrorCode, message: string, facts: RemoteFacts) {
    super(code, message, facts);
    this.status = facts.status;
    this.attempts = facts.attempts;
  }
}
