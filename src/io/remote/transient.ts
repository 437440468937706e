import { RemoteError } from "./remote_error.ts";

/** A failure that may pass. */
export class Transient extends Error {
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** Milliseconds that the server wants to be left alone for. */
  readonly after: number | undefined;
  /** Whether some bytes came. */
  readonly hasProgress: boolean;

  /** @param why What happened, for a message. */
  constructor(
    why: string,
    { status, after, hasProgress = false, cause }: {
      readonly status?: number;
      readonly after?: number | undefined;
      readonly hasProgress?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(why, { cause });
    this.status = status;
    this.after = after;
    this.hasProgress = hasProgress;
  }

  /** The error when it has not passed. */
  finally(name: string, attempts: number, timeout: number): RemoteError {
    const { status, message, cause } = this;
    const seconds = Math.round(timeout / 1000);
    return new RemoteError(
      status === undefined ? "unreachable" : "server-failed",
      `Cannot read ${name}: ${message}; tried ${attempts} times in ${seconds} s. ` +
        "Look whether the server is up, or wait longer (timeout)",
      { path: name, status, attempts, cause },
    );
  }
}
