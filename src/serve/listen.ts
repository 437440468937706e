import { RecordfsError } from "../base/errors.ts";
import { sendAtOnce } from "../io/libc/sockets.ts";
import { type HttpOptions, HttpServer } from "./http/http_server.ts";

/** How long answers that are under way may go on when a server is to end, in milliseconds. */
export const GRACE = 3000;

/** Where a server listens, and how. */
export interface Listening {
  readonly hostname: string;
  readonly port: number;
  /** PEM; with a key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** How many threads of this process listen there. */
  readonly threads: number;
}

/** What answers the requests of a port. */
export interface Listener {
  readonly addr: Deno.NetAddr;
  /** Resolves when it has ended. */
  readonly finished: Promise<void>;
  /** Ends it: what is under way is waited for for three seconds, and then no more. */
  close(): Promise<void>;
}

/**
 * Has a port's requests answered, of HTTP or HTTPS.
 *
 * @throws {RecordfsError} With code `cannot-listen` if the address or port can't be had, or the certificate is none.
 */
export function listen(
  { hostname, port, cert, key, threads }: Listening,
  options: Omit<HttpOptions, "threads">,
): Listener {
  return withListenErrors(hostname, port, () => {
    const where = { hostname, port, reusePort: threads > 1 };
    const all = { ...options, threads };
    const server = cert === undefined
      ? new HttpServer(Deno.listen(where), "http", all)
      : new HttpServer(listenTls(where, cert, key!), "https", all);
    const { addr, finished } = server;
    return { addr, finished, close: () => closeServer(server) };
  });
}

function listenTls(
  where: Deno.TcpListenOptions,
  cert: string,
  key: string,
): Deno.TlsListener {
  const alpnProtocols = ["http/1.1"];
  const listener = Deno.listenTls({ ...where, cert, key, alpnProtocols });
  sendAtOnce(listener);
  return listener;
}

async function closeServer(server: HttpServer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, GRACE);
  try {
    await Promise.race([server.shutdown(), late.promise]);
  } finally {
    clearTimeout(timer);
    server.close();
  }
}

/**
 * Makes sure that nobody else listens on a port that is to be shared by threads: the system would let another process of
 * the same user share it as well.
 *
 * @throws {RecordfsError} With code `cannot-listen`.
 */
export function requireFree(hostname: string, port: number): void {
  withListenErrors(hostname, port, () => Deno.listen({ hostname, port }))
    .close();
}

function withListenErrors<T>(
  hostname: string,
  port: number,
  listen: () => T,
): T {
  try {
    return listen();
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
      `Cannot listen on ${hostname}, port ${port}: ${why}`,
      { cause },
    );
  }
}
