import type { RecordfsError } from "../../base/errors.ts";

/** Options for containers on servers. */
export interface RemoteOptions {
  /**
   * Request headers, such as `Authorization`. They are sent only to the location's own scheme, host and port, never to
   * where a server redirects.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Path of a PEM file with certificates of authorities to trust, in addition to those of the system. Defaults to the
   * environment variable `AWS_CA_BUNDLE`.
   */
  readonly caCert?: string | undefined;
  /** Time in milliseconds that a read waits for a server that fails or is away. Defaults to 5 minutes. */
  readonly timeout?: number | undefined;
  /** Most requests in flight. Defaults to 64. */
  readonly maxRequests?: number | undefined;
  /** Options for buckets. Defaults come from the environment and the configuration files of AWS tools. */
  readonly s3?: {
    /** The server's URL, such as `http://127.0.0.1:7480`, for servers other than Amazon's. */
    readonly endpoint?: string | undefined;
    /**
     * Position of the bucket's name in URLs: in the path (`https://HOST/BUCKET/KEY`), or in the host (`virtual`,
     * `https://BUCKET.HOST/KEY`). Defaults to the path for an `endpoint`, and to the host for Amazon's servers.
     */
    readonly addressing?: "path" | "virtual" | undefined;
    /** Region that requests are signed for. */
    readonly region?: string | undefined;
    /** Profile of `~/.aws/config` whose keys are used. */
    readonly profile?: string | undefined;
    /** Whether requests are unsigned, for public buckets. */
    readonly anonymous?: boolean | undefined;
    /** Whether the requester pays for the transfer, if the bucket's owner demands it. */
    readonly requesterPays?: boolean | undefined;
  } | undefined;
  /** Cache of fetched data, which lasts between programs; `false` caches in memory only. */
  readonly cache?:
    | {
      /**
       * Directory of the cache. Defaults to `recordfs` in the user's cache directory (`XDG_CACHE_HOME`, or `~/.cache`). A
       * directory that is not the user's own, or that others may write to, is not used, with a warning, unless it is
       * `shared`.
       */
      readonly directory?: string | undefined;
      /**
       * Whether the directory's owner and group are trusted like the user, because they write to it as well. Nobody else
       * may. Needs `--allow-ffi`. Defaults to `false`.
       */
      readonly shared?: boolean | undefined;
      /** Largest size in bytes. Defaults to a fifth of what would be free without it. */
      readonly size?: number | undefined;
    }
    | false
    | undefined;
  /** Called with warnings about what slows down reading. Defaults to `console.warn`. */
  readonly onWarning?:
    | ((message: string, options?: RecordfsError["namedOptions"]) => void)
    | undefined;
}

/** Options for buckets. */
export type S3Options = NonNullable<RemoteOptions["s3"]>;

/** Options of a cache. */
export type CacheOptions = Exclude<
  NonNullable<RemoteOptions["cache"]>,
  false
>;
