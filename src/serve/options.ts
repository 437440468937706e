import type { CacheOptions } from "../io/remote/remote_options.ts";
import type { ServedSource } from "./api/sources.ts";

/** Options for serving a container. */
export interface HandlerOptions {
  /**
   * Secret that every request must carry: at least 16 characters that headers allow. It is sent as
   * `Authorization: Bearer TOKEN`, as the password of any user, or in the link `/?token=TOKEN`, which redirects a
   * browser to the page, at a random path with a cookie valid only there. `null` gives access to everyone who can reach
   * the server: on a shared machine that is every user, even if it listens on 127.0.0.1.
   */
  readonly token: string | null;
  /** Path prefix of all URLs, such as `/data`, if the server is mounted below one. Defaults to `/`. */
  readonly basePath?: string | undefined;
  /**
   * Host names, with or without a port, that requests may use, in addition to `localhost` and loopback addresses.
   * Required behind a proxy, and when listening on other addresses.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Whether all requests come through a proxy whose `X-Forwarded-Proto` or `Forwarded` header tells whether the browser
   * uses HTTPS. If it does, the page's cookie is sent over HTTPS only. Defaults to false.
   */
  readonly trustProxy?: boolean | undefined;
  /** Origins of other sites whose pages may read everything, such as `https://example.org`. Defaults to none. */
  readonly cors?: readonly string[] | undefined;
  /** Display name on the page. Defaults to the container's location. */
  readonly name?: string | undefined;
  /** Containers whose checksums the page can verify. Defaults to the opened ones that are local files. */
  readonly sources?: readonly ServedSource[] | undefined;
  /**
   * Maximum number of whole responses in progress, and of streamed ones; further requests get status 503. Defaults to
   * 1,000.
   */
  readonly maxRequests?: number | undefined;
  /**
   * Timeout in milliseconds for a client to accept the next part of a response; `serve` also applies it to receiving a
   * request. Defaults to 60,000.
   */
  readonly patience?: number | undefined;
  /**
   * On-disk cache, shared by processes, of up to 256 MiB of thumbnails of local containers; `false` for memory only.
   * Thumbnails of remote containers are cached with these. Defaults to the user's cache directory.
   */
  readonly cache?: CacheOptions | false | undefined;
  /** Called with errors in handling valid requests. Defaults to `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Access log entry of a request, without secrets. */
export interface Access {
  /** Address of the client. */
  readonly client: string;
  /** HTTP method, such as `GET`. */
  readonly method: string;
  /** Path as in the URL, without the query. The secret part of the page's path is replaced by `*`. */
  readonly path: string;
  /** HTTP status, such as 200. */
  readonly status: number;
  /** Time until the response started, in milliseconds. */
  readonly duration: number;
}
