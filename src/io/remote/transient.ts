import { RemoteError } from "./remote_error.ts";

/** What TLS says of a server's certificate that it does not take. */
const CERTIFICATE = /invalid peer certificate: (.*)/s;

/** A failure that may pass. */
export class Transient extends Error {
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** Milliseconds that the server wants to be left alone for; `Infinity` where it is of no use to wait. */
  readonly after: number | undefined;
  /** How many bytes came. */
  readonly bytes: number;
  /** Whether the server answers others no better, so that all wait until it does. */
  isAway = false;

  /** @param why What happened, for a message. */
  constructor(
    why: string,
    { status, after, bytes = 0, cause }: {
      readonly status?: number;
      readonly after?: number | undefined;
      readonly bytes?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(why, { cause });
    this.status = status;
    this.after = CERTIFICATE.test(why) ? Infinity : after;
    this.bytes = bytes;
  }

  /** Whether the server wants fewer requests. */
  get isSlowDown(): boolean {
    return this.status === 429 || this.message.endsWith(" SlowDown");
  }

  /** The error when it has not passed. */
  finally(
    name: string,
    { attempts, timeout, mayWait }: {
      readonly attempts: number;
      /** How long it was tried for, in ms. */
      readonly timeout: number;
      /** Whether it would be tried for longer, if that were asked for. */
      readonly mayWait: boolean;
    },
  ): RemoteError {
    const { status, message, cause, after = 0 } = this;
    const problem = CERTIFICATE.exec(message)?.[1];
    if (problem !== undefined) return untrusted(name, problem, cause);
    const seconds = Math.round(timeout / 1000);
    const wish = after > timeout
      ? `, and wants to be left alone for ${Math.round(after / 1000)} s`
      : "";
    return new RemoteError(
      status === undefined ? "unreachable" : "server-failed",
      `Cannot read ${name}: ${message}${wish}; tried ${attempts} times in ${seconds} s. ` +
        `Look whether the server is up${
          name.startsWith("s3:")
            ? ", name the store by the option `endpoint` if it is not Amazon's"
            : ""
        }${mayWait ? ", or give it longer by the option `timeout`" : ""}`,
      { path: name, status, attempts, cause },
    );
  }
}

function untrusted(
  path: string,
  problem: string,
  cause: unknown,
): RemoteError {
  const isUnknown = problem === "UnknownIssuer" || problem === "BadSignature";
  const advice = isUnknown
    ? "if it is of an authority of your own, give its certificate with --cacert FILE (option caCert)"
    : "look at the server's name in the URL, its certificate, and the clock of this machine";
  return new RemoteError(
    "untrusted",
    `Cannot read ${path}: the certificate of its server is not trusted (${problem}); ${advice}`,
    { path, attempts: 1, cause },
  );
}
