import { PACKAGES } from "../../../base/packages.ts";
import { variable } from "../../../base/environment.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import { RemoteError } from "../remote_error.ts";
import type { S3Options } from "../remote_options.ts";
import { Transient } from "../retry/transient.ts";

const ANONYMOUS: NamedOption = { name: "s3.anonymous" };

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
}

/** Keys are renewed this long before they expire, in milliseconds. */
const AHEAD = 5 * 60_000;
/** Shortest interval between renewals if there are no new keys yet. */
const EVERY = 10_000;

interface Found {
  /** `undefined` if requests must not be signed. */
  readonly keys: Keys | undefined;
  /** When to look again, in milliseconds since 1970. */
  readonly until: number;
  /** Why looking for new keys failed. */
  readonly failure?: unknown;
}

/** The keys of an account: from the environment, or as AWS tools find them. */
export class Credentials {
  readonly #options: S3Options;
  #found: Found | undefined;
  /** Lookup shared by all callers. */
  #looking: Promise<Found> | undefined;

  constructor(options: S3Options) {
    this.#options = options;
  }

  /**
   * Returns the current keys; `undefined` if requests must not be signed. Throws a {@linkcode RemoteError} if there are
   * none (`access-denied`), and a {@linkcode Transient} if they have expired and no new ones are available.
   */
  async keys(name: string): Promise<Keys | undefined> {
    const found = this.#found;
    if (found !== undefined && Date.now() < found.until) return found.keys;
    return (await this.#look(name)).keys;
  }

  /**
   * Looks for new keys after `refused` were refused, and returns whether there are. Throws a {@linkcode Transient} if
   * that cannot be found out.
   */
  async renew(name: string, refused: Keys | undefined): Promise<boolean> {
    if (refused === undefined) return false;
    // Unless new ones were found meanwhile.
    if (this.#found?.keys === refused) {
      const { failure } = await this.#look(name);
      if (failure !== undefined) throw noOthers("were refused", failure);
    }
    const keys = await this.keys(name);
    return keys?.accessKeyId !== refused.accessKeyId ||
      keys.sessionToken !== refused.sessionToken;
  }

  async #look(name: string): Promise<Found> {
    this.#looking ??= this.#lookOnce(name);
    const looking = this.#looking;
    try {
      return this.#found = await looking;
    } finally {
      if (this.#looking === looking) this.#looking = undefined;
    }
  }

  async #lookOnce(name: string): Promise<Found> {
    const before = this.#found;
    try {
      const keys = await this.#find(name);
      const expires = keys?.expiration?.getTime() ?? Infinity;
      return { keys, until: Math.max(expires - AHEAD, Date.now() + EVERY) };
    } catch (failure) {
      if (before === undefined) throw failure;
      // The provider of the keys is away.
      const expires = before.keys?.expiration?.getTime() ?? Infinity;
      if (Date.now() >= expires) throw noOthers("have expired", failure);
      return { keys: before.keys, until: Date.now() + EVERY, failure };
    }
  }

  async #find(name: string): Promise<Keys | undefined> {
    const { anonymous, profile } = this.#options;
    if (anonymous) return undefined;
    const fromEnvironment = profile === undefined
      ? keysOfEnvironment()
      : undefined;
    if (fromEnvironment !== undefined) return fromEnvironment;
    // Takes 300 ms to load.
    const { fromNodeProviderChain }:
      typeof import("@aws-sdk/credential-providers") = await import(
        PACKAGES.awsCredentials
      );
    try {
      const region = this.#options.region ?? variable("AWS_REGION") ??
        variable("AWS_DEFAULT_REGION");
      return await fromNodeProviderChain({
        ...profile !== undefined && { profile },
        ...region !== undefined && { clientConfig: { region } },
        // Reads files again, because other programs renew the keys in them.
        ignoreCache: true,
      })();
    } catch (cause) {
      throw new RemoteError(
        "access-denied",
        `Cannot read ${name}: no keys were found to sign requests with. Set AWS_ACCESS_KEY_ID and ` +
          "AWS_SECRET_ACCESS_KEY, log in with the AWS command line, or read a public bucket " +
          `with ${optionText(ANONYMOUS)}`,
        { path: name, cause, namedOptions: [ANONYMOUS] },
      );
    }
  }
}

function noOthers(what: string, cause: unknown): Transient {
  return new Transient(`the keys ${what}, and no newer ones were found`, {
    cause,
  });
}

function keysOfEnvironment(): Keys | undefined {
  const accessKeyId = variable("AWS_ACCESS_KEY_ID");
  const secretAccessKey = variable("AWS_SECRET_ACCESS_KEY");
  return accessKeyId && secretAccessKey
    ? {
      accessKeyId,
      secretAccessKey,
      sessionToken: variable("AWS_SESSION_TOKEN"),
    }
    : undefined;
}
