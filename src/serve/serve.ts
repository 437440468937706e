import { RecordfsError } from "../errors.ts";
import type { VirtualFs } from "../vfs/virtual_fs.ts";
import { newToken } from "./access/token.ts";
import { handler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";
import { basePathOf, splitUrl } from "./paths.ts";

/** How long answers that are under way may go on when a server is to end, in milliseconds. */
const GRACE = 3000;

/** A request that was answered, as logs say it: without what may be secret. */
export interface Access {
  /** The address of who asked. */
  readonly client: string;
  /** As `GET`. */
  readonly method: string;
  /** The path, as it stands in the URL, without what is behind the question mark. */
  readonly path: string;
  /** Of the answer, as 200. */
  readonly status: number;
  /** Until the answer began, in milliseconds. */
  readonly duration: number;
}

/** Options of {@linkcode serve}. */
export interface ServeOptions extends Omit<HandlerOptions, "token"> {
  /** As {@linkcode HandlerOptions.token}; a new one is made unless given. */
  readonly token?: string | null | undefined;
  /** The address to listen on. Defaults to `127.0.0.1`, which nobody reaches from elsewhere. */
  readonly hostname?: string | undefined;
  /** The port to listen on. Defaults to one that is free. */
  readonly port?: number | undefined;
  /** A certificate, with those of the authorities between, in PEM, to serve by HTTPS; `key` is given as well. */
  readonly cert?: string | undefined;
  /** The certificate's private key, in PEM. */
  readonly key?: string | undefined;
  /** Told of each request that was answered. */
  readonly onAccess?: ((access: Access) => void) | undefined;
}

/** A server that runs. */
export interface ServedAddress extends AsyncDisposable {
  /** Where the page is, without a token. */
  readonly url: string;
  /** The same, by which a browser gets in. */
  readonly link: string;
  /** The token, or `null` where everyone may read. */
  readonly token: string | null;
  /** Where it listens. */
  readonly port: number;
  /** Resolves when the server has ended. */
  readonly finished: Promise<void>;
  /** Ends the server: what is under way may go on for three seconds. */
  close(): Promise<void>;
}

/**
 * Serves a container over HTTP: a page to look at it, its files with ranges and listings, and the same by WebDAV.
 *
 * Needs `--allow-net`, and `--allow-read` for the container and the page.
 *
 * @param container Stays the caller's, and must not be closed before the server has ended.
 * @returns The server, when it answers.
 * @throws {RecordfsError} With code `cannot-listen` if the address or port can't be had, `bad-option` if an option is
 * wrong.
 *
 * @example Fetch a member
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import { serve } from "@recordfs/recordfs/serve";
 * import assert from "node:assert/strict";
 *
 * using container = await open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * await using server = serve(container);
 * const headers = { authorization: `Bearer ${server.token}`, range: "bytes=0-3" };
 * const response = await fetch(`${server.url}files/...`, { headers });
 * assert.equal(response.status, 206);
 * assert.equal((await response.bytes()).length, 4);
 * ```
 */
export function serve(
  container: VirtualFs,
  options: ServeOptions = {},
): ServedAddress {
  const { hostname = "127.0.0.1", port = 0, cert, key, onAccess } = options;
  const token = options.token === undefined ? newToken() : options.token;
  if ((cert === undefined) !== (key === undefined)) {
    throw new RecordfsError(
      "bad-option",
      "A certificate and its key are given together",
    );
  }
  const allowHosts = [...options.allowHosts ?? [], ...ownName(hostname)];
  const answer = handler(container, { ...options, token, allowHosts });
  const ending = new AbortController();
  const server = listen({
    hostname,
    port,
    signal: ending.signal,
    onListen() {},
    ...cert === undefined ? {} : { cert, key: key! },
  }, onAccess === undefined ? answer : logged(answer, onAccess));
  const scheme = cert === undefined ? "http" : "https";
  const host = ["0.0.0.0", "::"].includes(hostname) ? "localhost" : hostname;
  const shown = host.includes(":") ? `[${host}]` : host;
  const base = basePathOf(options.basePath ?? "/");
  const url = `${scheme}://${shown}:${server.addr.port}${base}/`;
  const close = async () => {
    const late = setTimeout(() => ending.abort(), GRACE);
    try {
      await server.shutdown();
    } finally {
      clearTimeout(late);
    }
  };
  return {
    url,
    link: token === null ? url : `${url}?token=${encodeURIComponent(token)}`,
    token,
    port: server.addr.port,
    finished: server.finished,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function listen(
  options:
    | Deno.ServeTcpOptions
    | (Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem),
  answer: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve(options, answer);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) throw cause;
    const why = cause instanceof Deno.errors.AddrInUse
      ? "another program has that port; choose one (--port, option port), or 0 for any that is free"
      : cause instanceof Deno.errors.AddrNotAvailable
      ? "this machine has no such address (--host, option hostname)"
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new RecordfsError(
      "cannot-listen",
      `Cannot listen on ${options.hostname}, port ${options.port}: ${why}`,
      { cause },
    );
  }
}

/** The name that a server was told to listen on is its own, unless that is all addresses. */
function ownName(hostname: string): string[] {
  if (hostname === "0.0.0.0" || hostname === "::") return [];
  return [hostname.includes(":") ? `[${hostname}]` : hostname];
}

function logged(
  answer: ReturnType<typeof handler>,
  onAccess: (access: Access) => void,
): Deno.ServeHandler<Deno.NetAddr> {
  return (request, { remoteAddr }) => {
    const start = performance.now();
    const note = (response: Response) => {
      onAccess({
        client: remoteAddr.hostname,
        method: request.method,
        path: splitUrl(request.url).path,
        status: response.status,
        duration: performance.now() - start,
      });
      return response;
    };
    const response = answer(request);
    return response instanceof Response ? note(response) : response.then(note);
  };
}
