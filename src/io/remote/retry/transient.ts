import { RemoteError } from "../remote_error.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";

export const CA_CERT: NamedOption = { name: "caCert" };
const ENDPOINT: NamedOption = { name: "s3.endpoint" };
const TIMEOUT: NamedOption = { name: "timeout" };

/** Message of TLS about an untrusted certificate. */
const CERTIFICATE = /invalid peer certificate: (.*)/s;

/** A failure that may pass. */
export class Transient extends Error {
  readonly status: number | undefined;
  /** Wait in milliseconds that the server requests; `Infinity` if waiting is useless. */
  readonly after: number | undefined;
  readonly bytes: number;
  /** Whether the server fails for others too, so that all wait for it. */
  isAway = false;

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

  /** Returns the error to throw if the failure has not passed. */
  finally(
    name: string,
    { attempts, timeout, mayWait }: {
      readonly attempts: number;
      /** Time spent on attempts, in ms. */
      readonly timeout: number;
      /** Whether a longer timeout could be set. */
      readonly mayWait: boolean;
    },
  ): RemoteError {
    const { status, message, cause, after = 0 } = this;
    const problem = CERTIFICATE.exec(message)?.[1];
    if (problem !== undefined) return untrusted(name, problem, cause);
    const seconds = Math.round(timeout / 1000);
    const wish = after > timeout
      ? `, and asks to wait ${Math.round(after / 1000)} s`
      : "";
    const hints = ["Check that the server is up"];
    const namedOptions: NamedOption[] = [];
    if (name.startsWith("s3:")) {
      hints.push(
        `give the URL of the store with ${
          optionText(ENDPOINT)
        } if it is not Amazon's`,
      );
      namedOptions.push(ENDPOINT);
    }
    if (mayWait) {
      hints.push(`or wait longer with ${optionText(TIMEOUT)}`);
      namedOptions.push(TIMEOUT);
    }
    return new RemoteError(
      status === undefined ? "unreachable" : "server-failed",
      `Cannot read ${name}: ${message}${wish}; tried ${attempts} times in ${seconds} s. ${
        hints.join(", ")
      }`,
      { path: name, status, attempts, cause, namedOptions },
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
    ? `If you trust its authority, give that authority's certificate with ${
      optionText(CA_CERT)
    }`
    : "Check the server's name in the URL, its certificate, and the clock of this machine";
  return new RemoteError(
    "untrusted",
    `Cannot read ${path}: the certificate of its server is not trusted (${problem}). ${advice}`,
    {
      ...{ path, attempts: 1, cause },
      namedOptions: isUnknown ? [CA_CERT] : undefined,
    },
  );
}
