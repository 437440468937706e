import { redirect } from "../answers.ts";
import { bodyText } from "../body_text.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import type { Session } from "./session.ts";
import type { Token } from "./token.ts";

/** Bytes of a form: each character of the longest token may be escaped. */
const LONGEST_FORM = 4096;

/**
 * Takes the token of a link or of a form, and leads the browser to the page with a cookie of the page's own: the token does
 * not stay where others see it.
 */
export class Login {
  readonly #token: Token;
  readonly #session: Session;
  readonly #trustsProxy: boolean;

  constructor(token: Token, session: Session, trustsProxy: boolean) {
    this.#token = token;
    this.#session = session;
    this.#trustsProxy = trustsProxy;
  }

  /**
   * Answers a request for a link.
   *
   * @param given What stands behind `token=` in its query.
   * @throws {ServeError} If it is not the token.
   */
  byLink(request: RequestLike, given: string): Response {
    if (this.#token.is(decoded(given))) return this.#leadTo(request, "");
    throw wrongToken("Open the link that it has printed last");
  }

  /**
   * Answers a form of the token page.
   *
   * @param rest Path of its URL behind the base path.
   * @throws {ServeError} If it has not the token, or is too long.
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

/** Whether a request may send a form of the token page. */
export function isForm({ method, headers }: RequestLike): boolean {
  return method === "POST" && /^application\/x-www-form-urlencoded[ \t]*(;|$)/i
    .test(headers.get("content-type") ?? "");
}

/**
 * Where a form leads, below the page's path: to the file or directory that was asked for, or else to the page. It stays
 * below that path whatever was asked for.
 */
function targetOf(rest: string, query: string): string {
  const below = rest.replace(/^s\/[^/]*\/?/, ""); // the page's path, perhaps of a server before
  if (!below.startsWith("files/")) return "";
  const isKept = query !== "" && !query.startsWith("token=");
  return isKept ? `${below}?${query}` : below;
}

function wrongToken(hint: string): ServeError {
  return new ServeError(
    "wrong-token",
    `This is not the token that the server was started with. ${hint}`,
  );
}

function decoded(given: string): string {
  try {
    return decodeURIComponent(given.split("&", 1)[0]!);
  } catch {
    return "";
  }
}
