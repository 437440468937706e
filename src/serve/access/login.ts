import { redirect } from "../responses.ts";
import { bodyText } from "../body_text.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import type { TokenSession } from "./session.ts";
import type { Token } from "./token.ts";

/** Maximum size of a form in bytes: each character of the longest token may be escaped. */
const LONGEST_FORM = 4096;

/** Accepts the token from a link or form, and redirects to the page with a cookie: it does not stay in the URL. */
export class Login {
  readonly #token: Token;
  readonly #session: TokenSession;
  readonly #trustsProxy: boolean;

  constructor(token: Token, session: TokenSession, trustsProxy: boolean) {
    this.#token = token;
    this.#session = session;
    this.#trustsProxy = trustsProxy;
  }

  /** Responds to a login link. `given` is what follows `token=` in the query; throws if it is not the token. */
  byLink(request: RequestLike, given: string): Response {
    if (this.#token.is(decoded(given))) return this.#leadTo(request, "");
    throw wrongToken("Open the link that it printed last");
  }

  /**
   * Responds to a form of the token page.
   *
   * @param rest URL path behind the base path.
   * @throws {ServeError} If the form lacks the token or is too long.
   */
  async byForm(
    request: RequestLike,
    rest: string,
    query: string,
  ): Promise<Response> {
    const text = await bodyText(request, LONGEST_FORM, "a form");
    const given = new URLSearchParams(text).get("token")?.trim() ?? "";
    if (this.#token.is(given)) {
      return this.#leadTo(request, targetOf(rest, query));
    }
    throw wrongToken("Type the token of its last start");
  }

  #leadTo({ url, headers }: RequestLike, target: string): Response {
    const cookie = this.#session.cookie(url, headers, this.#trustsProxy);
    const location = `${this.#session.base}/${target}`;
    return redirect(location, 303, [["set-cookie", cookie]]);
  }
}

export function isForm({ method, headers }: RequestLike): boolean {
  return method === "POST" && /^application\/x-www-form-urlencoded[ \t]*(;|$)/i
    .test(headers.get("content-type") ?? "");
}

/** Returns a form's target: the requested file or directory, else the page; always below the page's path. */
function targetOf(rest: string, query: string): string {
  const below = rest.replace(/^s\/[^/]*\/?/, ""); // the page's path, perhaps that of an earlier server
  if (!below.startsWith("files/")) return "";
  const isKept = query !== "" && !query.startsWith("token=");
  return isKept ? `${below}?${query}` : below;
}

function wrongToken(hint: string): ServeError {
  return new ServeError(
    "wrong-token",
    `Cannot log in: this is not the server's token. ${hint}`,
  );
}

function decoded(given: string): string {
  try {
    return decodeURIComponent(given.split("&", 1)[0]!);
  } catch {
    return "";
  }
}
