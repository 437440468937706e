import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import type { Hosts } from "./hosts.ts";
import type { TokenSession } from "./session.ts";
import type { Token } from "./token.ts";

export interface Gate {
  readonly hosts: Hosts;
  /** `undefined` if reading needs no token; then there is no session either. */
  readonly token: Token | undefined;
  readonly session: TokenSession | undefined;
  /** Cross-origin sites whose pages may read everything, such as `https://example.org`. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Rejects requests that use a foreign host name or come from another site's page. Browsers name the requesting page's
 * site, and attach the credentials that they have for this server.
 *
 * @param authority Authority of the request URL.
 * @throws {ServeError}
 */
export function refuseForeign(
  { hosts, origins }: Gate,
  { method, headers }: RequestLike,
  authority: string,
): void {
  // Must come first: `has` fetches all headers at once, whereas each `get` before it is a call into the server.
  const isOfPage = headers.has("sec-fetch-site") || headers.has("origin");
  const host = headers.get("host");
  const isOther = host !== null && host !== authority;
  if (!hosts.has(authority) || isOther && !hosts.has(host)) {
    throw new ServeError(
      "wrong-host",
      "Cannot answer for this host name: it is not allowed. Use localhost or an address of this machine, or allow the " +
        "name (--allow-host NAME, option allowHosts)",
    );
  }
  if (!isOfPage) return;
  const isSafe = method !== "POST";
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null && (origin === null || isSafe)) return;
  if (origin !== null && origins.has(origin) && isSafe) return;
  const isOwnSite = site === null || site === "same-origin" || site === "none";
  // A link on another page may lead here: that page cannot read the response.
  const isLink = isSafe && headers.get("sec-fetch-mode") === "navigate" &&
    headers.get("sec-fetch-dest") === "document";
  const isOwnOrigin = origin === null || isSafe ||
    URL.parse(origin)?.host === (host ?? authority);
  if ((isOwnSite || isLink) && isOwnOrigin) return;
  throw new ServeError(
    "cross-site",
    "Cannot answer a page of another site: its origin is not allowed. Allow it with --cors ORIGIN",
  );
}

/** Whether a request carries the token, or none is required. */
export function hasToken({ token }: Gate, { headers }: RequestLike): boolean {
  return token === undefined || token.isIn(headers);
}

export function requireToken(gate: Gate, request: RequestLike): void {
  if (hasToken(gate, request)) return;
  const { headers } = request;
  const isWrong = headers.has("authorization");
  throw isWrong
    ? new ServeError(
      "wrong-token",
      "Cannot show the container: this is not the server's token",
    )
    : new ServeError(
      "no-token",
      "Cannot show the container: the token is missing. Open the link that `recordfs serve` printed, or give its token as password or `Authorization: Bearer TOKEN`",
    );
}

/** Rejects requests below the page's path without the page's cookie or the token. */
export function requireSession(gate: Gate, request: RequestLike): void {
  const { token, session } = gate;
  const { headers } = request;
  if (session?.isIn(headers) || token?.isIn(headers)) return;
  throw new ServeError(
    "no-session",
    "Cannot show the container: this browser does not have the page's cookie. Open the link that the server printed",
  );
}
