import { RecordfsError } from "../base/errors.ts";
import { requireDescriptors } from "../io/storage/thread_descriptors.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { hidePath, newSession, type SessionSecrets } from "./access/session.ts";
import { newToken } from "./access/token.ts";
import { answererOf, tellOnConsole } from "./handler.ts";
import { listen, requireFree } from "./listen.ts";
import type { Access, HandlerOptions } from "./options.ts";
import {
  isAllAddresses,
  ownAddresses,
  reachableAddresses,
} from "./own_addresses.ts";
import { basePathOf } from "./paths.ts";
import { AnsweringThreads } from "./threads/answering_threads.ts";
import type { PlainOptions, ThreadOpener } from "./threads/messages.ts";
import { SharedCounts } from "./threads/shared_counts.ts";

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
  /**
   * What all URLs start with, as `${url}files/`; without a token, the page is here. Of a server that listens on all
   * addresses, with one that other machines reach, where `--allow-sys` tells it.
   */
  readonly url: string;
  /** Opens the page in any browser until the server ends: it has the page's own path, and the token. */
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
 * Needs `--allow-net`, and `--allow-read` for the container, the page, and the modules of threads that decode.
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
  return serveInThreads(container, options);
}

/** Threads that answer beside the calling one. */
export interface OtherThreads {
  readonly count: number;
  /** How they open the container. */
  readonly opener: ThreadOpener;
}

/** {@linkcode serve} by several threads, each of them some of the connections, where ports can be shared. */
export function serveInThreads(
  container: VirtualFs,
  options: ServeOptions,
  others?: OtherThreads,
): ServedAddress {
  const { port = 0, cert, key } = options;
  // As URLs have it, or as systems do.
  const hostname = (options.hostname ?? "127.0.0.1").replace(
    /^\[(.*)\]$/,
    "$1",
  );
  const token = options.token === undefined ? newToken() : options.token;
  if ((cert === undefined) !== (key === undefined)) {
    throw new RecordfsError(
      "bad-option",
      "A certificate and its key are given together",
    );
  }
  const allowHosts = [...options.allowHosts ?? [], ...ownNames(hostname)];
  const all = { ...options, token, allowHosts };
  const session = newSession(cert !== undefined);
  const counts = new SharedCounts();
  const onError = options.onError ?? tellOnConsole;
  const onAccess = options.onAccess && withoutSecret(options.onAccess, session);
  const answerer = answererOf(container, all, session, counts);
  const threads = 1 + (others?.count ?? 0);
  if (threads > 1 && port !== 0) requireFree(hostname, port);
  const where = { hostname, port, cert, key, threads };
  const { patience } = options;
  if (others !== undefined) {
    requireDescriptors(others.count, "threads of the server");
  }
  const server = listen(where, { answerer, patience, onAccess, onError });
  const answering = others && new AnsweringThreads(others.count, {
    kind: "answer",
    opener: others.opener,
    options: plainOptions(all),
    session,
    listening: { ...where, port: server.addr.port },
    counts: counts.memory,
    isLogged: onAccess !== undefined,
  }, { onAccess, onError });
  const scheme = cert === undefined ? "http" : "https";
  const shown = isAllAddresses(hostname)
    ? reachableAddresses()[0] ?? "localhost"
    : asAuthority(hostname);
  const base = basePathOf(options.basePath ?? "/");
  const url = `${scheme}://${shown}:${server.addr.port}${base}/`;
  const close = async () => {
    await Promise.all([server.close(), answering?.close()]);
    answerer.close();
  };
  return {
    url,
    link: token === null
      ? url
      : `${url}s/${session.path}/?token=${encodeURIComponent(token)}`,
    token,
    port: server.addr.port,
    finished: server.finished,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The names of a server that listens on an address, or on all of the machine's. */
function ownNames(hostname: string): string[] {
  return isAllAddresses(hostname) ? ownAddresses() : [asAuthority(hostname)];
}

function asAuthority(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** Reports requests without the secret part of the page's path. */
function withoutSecret(
  onAccess: (access: Access) => void,
  session: SessionSecrets,
): (access: Access) => void {
  return (access) => {
    const path = hidePath(access.path, session);
    onAccess(path === access.path ? access : { ...access, path });
  };
}

/** Those that other threads take, too. */
function plainOptions(
  {
    token,
    basePath,
    allowHosts,
    trustProxy,
    cors,
    name,
    maxRequests,
    patience,
    cache,
  }: PlainOptions,
): PlainOptions {
  const access = { token, basePath, allowHosts, trustProxy, cors };
  return { ...access, name, maxRequests, patience, cache };
}
