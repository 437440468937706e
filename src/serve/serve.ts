import { RecordfsError } from "../base/errors.ts";
import { requireDescriptors } from "../io/storage/thread_descriptors.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { hidePath, newSession, type SessionSecrets } from "./access/session.ts";
import { newToken } from "./access/token.ts";
import { answererOf, tellOnConsole } from "./handler.ts";
import { listen, requireFree } from "./listen.ts";
import type { Access, ServeOptions } from "./options.ts";
import {
  isAllAddresses,
  ownAddresses,
  reachableAddresses,
} from "./own_addresses.ts";
import { basePathOf } from "./paths.ts";
import { HandlerThreads } from "./threads/handler_threads.ts";
import type { PlainOptions, ThreadOpener } from "./threads/messages.ts";
import { SharedCounts } from "./threads/shared_counts.ts";

/**
 * Serves a container over HTTP: a page to view it, its files with ranges and listings, and WebDAV.
 *
 * Needs `--allow-net`, and `--allow-read` for the container, the page, and the modules of decoder threads.
 *
 * @param container Owned by the caller, who must not close it before the server is closed.
 * @returns The running server.
 * @throws {RecordfsError} With code `cannot-listen` if the address or port is not available, `bad-option` if an option
 * is invalid.
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
): AsyncDisposable & {
  /**
   * Base of all URLs, for use as `${url}files/`; without a token, it is the page. If the server listens on all
   * addresses, the URL has one that other machines can reach, provided that `--allow-sys` reveals it.
   */
  readonly url: string;
  /**
   * Link that opens the page in any browser while the server runs. It contains the page's secret path and the token.
   */
  readonly link: string;
  /** The token; `null` if none is required. */
  readonly token: string | null;
  /** Port that it listens on. */
  readonly port: number;
  /** Resolves when the server is closed. */
  readonly finished: Promise<void>;
  /** Closes the server, with a grace period of three seconds for responses in progress. */
  close(): Promise<void>;
} {
  return serveInThreads(container, options);
}

/** Running server. */
export type ServedAddress = ReturnType<typeof serve>;

/** Additional serving threads. */
export interface OtherThreads {
  readonly count: number;
  readonly opener: ThreadOpener;
}

/** {@linkcode serve} with several threads, which share the connections if ports can be shared. */
export function serveInThreads(
  container: VirtualFs,
  options: ServeOptions,
  others?: OtherThreads,
): ServedAddress {
  const { port = 0, cert, key } = options;
  // Accepts IPv6 addresses with and without brackets.
  const hostname = (options.hostname ?? "127.0.0.1").replace(
    /^\[(.*)\]$/,
    "$1",
  );
  const token = options.token === undefined ? newToken() : options.token;
  if ((cert === undefined) !== (key === undefined)) {
    throw new RecordfsError(
      "bad-option",
      "A certificate and its key must be given together",
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
  const answering = others && new HandlerThreads(others.count, {
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

/** Returns the host names of a server that listens on one or all addresses. */
function ownNames(hostname: string): string[] {
  return isAllAddresses(hostname) ? ownAddresses() : [asAuthority(hostname)];
}

function asAuthority(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** Masks the secret part of the page's path. */
function withoutSecret(
  onAccess: (access: Access) => void,
  session: SessionSecrets,
): (access: Access) => void {
  return (access) => {
    const path = hidePath(access.path, session);
    onAccess(path === access.path ? access : { ...access, path });
  };
}

/** Selects the options to send to other threads. */
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
