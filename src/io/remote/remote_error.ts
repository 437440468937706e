import { type ErrorFacts, RecordfsError } from "../../base/errors.ts";

/** Why a container on a server can't be read. */
export type RemoteErrorCode =
  | "access-denied"
  | "bad-answer"
  | "no-ranges"
  | "redirect-loop"
  | "server-failed"
  | "unreachable"
  | "untrusted";

/** What is known of a request that failed. */
export interface RemoteFacts extends ErrorFacts {
  /** The HTTP status of the last answer, if there was one. */
  readonly status?: number | undefined;
  /** How often it was tried. */
  readonly attempts?: number | undefined;
}

/** A server did not give what was asked for. Neither its message nor its fields hold a secret. */
export class RemoteError extends RecordfsError<RemoteErrorCode> {
  /** The HTTP status of the last answer, if there was one. */
  readonly status: number | undefined;
  /** How often it was tried. */
  readonly attempts: number | undefined;

  /** Makes an error about a URL, `path`, which is without its query. */
  constructor(code: RemoteErrorCode, message: string, facts: RemoteFacts) {
    super(code, message, facts);
    this.status = facts.status;
    this.attempts = facts.attempts;
  }
}
