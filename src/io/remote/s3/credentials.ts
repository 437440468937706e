import { PACKAGES } from "../../../packages.ts";
import { variable } from "../../../environment.ts";
import { RemoteError } from "../remote_error.ts";
import type { S3Options } from "../remote_options.ts";

/** Keys that requests are signed with. */
export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they stop to work. */
  readonly expiration?: Date | undefined;
}

/** Keys are renewed so long before they expire, in milliseconds. */
const AHEAD = 5 * 60_000;

/** The keys of an account: from the environment, or as AWS' own tools find them. */
export class Credentials {
  readonly #options: S3Options;
  #keys: Promise<Keys | undefined> | undefined;
  #expires = Infinity;

  /** @param options With a profile, or anonymous. */
  constructor(options: S3Options) {
    this.#options = options;
  }

  /**
   * The keys as they are now; `undefined` where requests are not to be signed.
   *
   * @throws {RemoteError} If there are none (`access-denied`).
   */
  async keys(name: string): Promise<Keys | undefined> {
    if (Date.now() > this.#expires - AHEAD) this.#keys = undefined;
    const looking = this.#keys ??= this.#find(name);
    try {
      const keys = await looking;
      this.#expires = keys?.expiration?.getTime() ?? Infinity;
      return keys;
    } catch (error) {
      if (this.#keys === looking) this.#keys = undefined; // it may be mended meanwhile
      throw error;
    }
  }

  /**
   * Looks for others.
   *
   * @param refused Those that were used.
   * @returns Whether there are.
   */
  async renew(name: string, refused: Keys | undefined): Promise<boolean> {
    if (refused === undefined) return false;
    if (await this.#keys === refused) this.#keys = undefined;
    const keys = await this.keys(name);
    return keys?.accessKeyId !== refused.accessKeyId ||
      keys.sessionToken !== refused.sessionToken;
  }

  async #find(name: string): Promise<Keys | undefined> {
    const { anonymous, profile } = this.#options;
    if (anonymous) return undefined;
    const fromEnvironment = profile === undefined
      ? keysOfEnvironment()
      : undefined;
    if (fromEnvironment !== undefined) return fromEnvironment;
    // 300 ms to load.
    const { fromNodeProviderChain }:
      typeof import("@aws-sdk/credential-providers") = await import(
        PACKAGES.awsCredentials
      );
    try {
      return await fromNodeProviderChain(
        profile === undefined ? {} : { profile },
      )();
    } catch (cause) {
      throw new RemoteError(
        "access-denied",
        `Cannot read ${name}: no keys were found to sign requests with; set AWS_ACCESS_KEY_ID and ` +
          "AWS_SECRET_ACCESS_KEY, or log in with the AWS command line, or read a public bucket " +
          "with --anonymous (option s3.anonymous)",
        { path: name, cause },
      );
    }
  }
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
