import { RecordfsError } from "../base/errors.ts";

const STATUS = {
  "bad-request": 400,
  "bad-path": 400,
  "no-token": 401,
  "wrong-token": 401,
  "no-session": 401,
  "wrong-host": 403,
  "cross-site": 403,
  "read-only": 403,
  "infinite-depth": 403,
  "not-found": 404,
  "bad-method": 405,
  "is-directory": 409,
  "not-directory": 409,
  "busy": 409,
  "no-length": 411,
  "changed": 412,
  "too-large": 413,
  "too-many-ranges": 416,
  "no-such-range": 416,
  "head-too-large": 431,
  "damaged": 500,
  "failed": 500,
  "bad-coding": 501,
  "unreadable-member": 501,
  "too-many-requests": 503,
  "bad-version": 505,
  "too-slow": 408,
  "cancelled": 499, // defined by nginx
} as const;

export type ServeErrorCode = keyof typeof STATUS;

/** Error that a request is answered with, or was aborted by. */
export class ServeError extends RecordfsError<ServeErrorCode> {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];

  /** The message is sent to the client. */
  constructor(
    code: ServeErrorCode,
    message: string,
    { cause, headers = [], status = STATUS[code] }: {
      readonly cause?: unknown;
      readonly headers?: ServeError["headers"];
      readonly status?: number;
    } = {},
  ) {
    super(code, message, { cause });
    this.headers = headers;
    this.status = status;
  }
}
