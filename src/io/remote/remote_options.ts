/** How containers on servers are reached. */
export interface RemoteOptions {
  /**
   * Headers of requests, such as `Authorization`. They are sent to the location's own scheme, host and port, and never
   * to where a server redirects to.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Path of a file of certificates (PEM) of authorities that servers are trusted by, beside those of the system.
   * Defaults to what the environment's `AWS_CA_BUNDLE` says.
   */
  readonly caCert?: string | undefined;
  /** How long a read waits for a server that fails or is away, in milliseconds. Defaults to 5 minutes. */
  readonly timeout?: number | undefined;
  /** How many requests are under way at most. Defaults to 64. */
  readonly maxRequests?: number | undefined;
  /** How buckets are reached. */
  readonly s3?: S3Options | undefined;
  /** Where what was fetched is kept, for the next time as well; `false` for nowhere but in memory. */
  readonly cache?: CacheOptions | false | undefined;
  /** Told of what makes reading slower. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** How buckets are reached; what is not given is looked for in the environment and the files of AWS' own tools. */
export interface S3Options {
  /** The server's URL, such as `http://127.0.0.1:7480`: for servers that are not Amazon's. */
  readonly endpoint?: string | undefined;
  /**
   * Where the bucket's name stands in URLs: in the path (`https://HOST/BUCKET/KEY`), or in the host
   * (`virtual`, `https://BUCKET.HOST/KEY`). Defaults to the path for an `endpoint`, and to the host for Amazon's.
   */
  readonly addressing?: "path" | "virtual" | undefined;
  /** The region that requests are signed for. */
  readonly region?: string | undefined;
  /** The profile of `~/.aws/config` whose keys are used. */
  readonly profile?: string | undefined;
  /** Whether requests are not signed at all: for public buckets. */
  readonly anonymous?: boolean | undefined;
  /** Whether whoever asks pays for the transfer, where the bucket's owner wants that. */
  readonly requesterPays?: boolean | undefined;
}

/** How a cache is kept. */
export interface CacheOptions {
  /**
   * Where it is. Defaults to `recordfs` in the user's cache directory (`XDG_CACHE_HOME`, or `~/.cache`). One that is not
   * the user's own, or that others may write to, is not used, with a warning, unless it is `shared`.
   */
  readonly directory?: string | undefined;
  /**
   * Whether the owner and the group of the directory are trusted as the user is, as they write to it as well. Nobody else
   * may. It needs `--allow-ffi`. Defaults to `false`.
   */
  readonly shared?: boolean | undefined;
  /** How many bytes it has at most. Defaults to a fifth of what would be free without it. */
  readonly size?: number | undefined;
}
