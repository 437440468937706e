import { RecordfsError } from "../base/errors.ts";
import { type NamedOption, optionText } from "../base/named_option.ts";
import { sendAtOnce } from "../io/libc/sockets.ts";
import { type HttpOptions, HttpServer } from "./http/http_server.ts";

const PORT: NamedOption = { name: "port" };
const HOSTNAME: NamedOption = { name: "hostname" };

/** Grace period for responses in progress at shutdown, in milliseconds. */
export const GRACE = 3000;

export interface Listening {
  readonly hostname: string;
  readonly port: number;
  /** PEM; requires a key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Number of threads of this process that listen on the port. */
  readonly threads: number;
}

export interface Listener {
  readonly addr: Deno.NetAddr;
  readonly finished: Promise<void>;
  /** Closes it, with a grace period of three seconds for responses in progress. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP or HTTPS server.
 *
 * @throws {RecordfsError} With code `cannot-listen` if the address or port is not available, or the certificate
 * invalid.
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
 * Checks that nobody listens on a port that threads will share: the system would let another process of the same user
 * share it, too.
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
      ? `another program uses that port. Choose another with ${
        optionText(PORT)
      }, or 0 for any free one`
      : cause instanceof Deno.errors.AddrNotAvailable
      ? `this machine has no such address. Choose one of its own with ${
        optionText(HOSTNAME)
      }`
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new RecordfsError(
      "cannot-listen",
      `Cannot listen on ${hostname}, port ${port}: ${why}`,
      { cause, namedOptions: [PORT, HOSTNAME] },
    );
  }
}
