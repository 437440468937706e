import { RecordfsError } from "../errors.ts";
import type { SendingHandler } from "./handler.ts";
import type { Access } from "./options.ts";
import { splitUrl } from "./paths.ts";

/** How long answers that are under way may go on when a server is to end, in milliseconds. */
export const GRACE = 3000;

/** Where a server listens, and how. */
export interface Listening {
  readonly hostname: string;
  readonly port: number;
  /** PEM; with a key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Whether other threads of this process listen there as well. */
  readonly isShared: boolean;
}

/**
 * Has a port's requests answered.
 *
 * @param onAccess Told of each that was.
 * @throws {RecordfsError} With code `cannot-listen` if the address or port can't be had.
 */
export function listen(
  { hostname, port, cert, key, isShared }: Listening,
  answer: SendingHandler,
  onAccess: ((access: Access) => void) | undefined,
): Deno.HttpServer<Deno.NetAddr> {
  return withListenErrors(hostname, port, () =>
    Deno.serve({
      hostname,
      port,
      reusePort: isShared,
      onListen() {},
      ...cert === undefined ? {} : { cert, key: key! },
    }, onAccess === undefined ? answer : logged(answer, onAccess)));
}

/**
 * Ends it: what is under way is waited for for three seconds, and then no more. A signal that is given to `Deno.serve`
 * does not end it behind `shutdown`: Deno 2.9.6 throws an error then that nobody can catch.
 */
export async function closeListening(server: Deno.HttpServer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, GRACE);
  try {
    await Promise.race([server.shutdown(), late.promise]);
  } finally {
    clearTimeout(timer);
    server.unref();
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

function logged(
  answer: SendingHandler,
  onAccess: (access: Access) => void,
): Deno.ServeHandler<Deno.NetAddr> {
  return (request, info) => {
    const { remoteAddr } = info;
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
    const response = answer(request, info);
    return response instanceof Response ? note(response) : response.then(note);
  };
}
