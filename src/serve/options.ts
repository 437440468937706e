import type { CacheOptions } from "../io/remote/remote_options.ts";
import type { ServedSource } from "./api/sources.ts";

/** How a container is served. */
export interface HandlerOptions {
  /**
   * What everyone who asks has to know, at least 16 characters of those that headers take: as `Authorization: Bearer
   * TOKEN`, as the password of any user, or in the link `/?token=TOKEN`, which leads a browser to the page: below a
   * random path, and with a cookie that is valid there alone. `null` lets everyone read who can reach the server: on a
   * shared machine that is everyone on it, also where it listens on 127.0.0.1.
   */
  readonly token: string | null;
  /** The path that all URLs start with, as `/data`, where the server is below one. Defaults to `/`. */
  readonly basePath?: string | undefined;
  /**
   * Names, with or without a port, by which the server may be called, beside `localhost` and addresses of this machine's
   * own: whoever is behind a proxy, or listens to others, gives those.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Whether all requests come through a proxy, whose `X-Forwarded-Proto` or `Forwarded` says whether the browser speaks
   * HTTPS with it: then the page's cookie is sent by HTTPS only. Defaults to false.
   */
  readonly trustProxy?: boolean | undefined;
  /** Origins of other sites whose pages may read everything, as `https://example.org`. Defaults to none. */
  readonly cors?: readonly string[] | undefined;
  /** What is served, as the page calls it. Defaults to the container's location. */
  readonly name?: string | undefined;
  /**
   * The containers, to check their checksums when somebody asks for that. Defaults to those that were opened, where they
   * are files of this machine.
   */
  readonly sources?: readonly ServedSource[] | undefined;
  /**
   * How many answers may be made as a whole at a time, and how many be sent piece by piece; more get status 503. Defaults
   * to 1,000.
   */
  readonly maxRequests?: number | undefined;
  /**
   * How long a client may take for the next part of an answer before it ends, in milliseconds; `serve` ends a connection
   * also where a request takes so long to be asked. Defaults to 60,000.
   */
  readonly patience?: number | undefined;
  /**
   * Where thumbnails of containers on this machine are cached for other programs, up to 256 MiB; `false` for memory only.
   * Those of remote containers are cached where these are. Defaults to the user's cache directory.
   */
  readonly cache?: CacheOptions | false | undefined;
  /** Told of what went wrong in answering a request that was right. Defaults to `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A request that was answered, as logs say it: without what may be secret. */
export interface Access {
  /** The address of who asked. */
  readonly client: string;
  /** As `GET`. */
  readonly method: string;
  /** The path as it stands in the URL, without the query; the secret part of the page's path is `*`. */
  readonly path: string;
  /** Of the answer, as 200. */
  readonly status: number;
  /** Until the answer began, in milliseconds. */
  readonly duration: number;
}
