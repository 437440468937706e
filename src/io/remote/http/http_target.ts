import { abortable } from "../../concurrency/abortable.ts";
import type { HttpLocation } from "../remote_location.ts";
import { withoutSecrets } from "../remote_location.ts";
import { loginFor } from "./netrc.ts";
import type { PreparedRequest, Target } from "../target.ts";

/** What stores answer to a signature that has expired, and servers of files that have gone elsewhere. */
const EXPIRED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

/** A file or directory of a web server. */
export class HttpTarget implements Target {
  readonly name: string;
  readonly identity: string;
  readonly advice =
    "give what the server asks for with --header 'Authorization: …' (option headers), or a URL that is signed anew";
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  /** Where the server redirected to, which may expire, and whether a request was answered there. */
  #elsewhere: { readonly url: URL; hasWorked: boolean } | undefined;
  /** Whether it has ever redirected elsewhere. */
  #redirects = false;
  /** While one request asks where it is now: ends with that. */
  #asking: Promise<void> | undefined;
  /** Whether it has redirected to the same with a slash. */
  isDirectory = false;

  /** @param headers Sent to this URL's scheme, host and port only. */
  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
    this.name = withoutSecrets(url);
    this.identity = identityOf(url);
  }

  get store(): string {
    return (this.#elsewhere?.url ?? this.#url).origin;
  }

  async prepare(
    headers: Headers,
    signal: AbortSignal,
  ): Promise<PreparedRequest> {
    // Of all whose address has expired, one asks for another.
    while (this.#elsewhere === undefined && this.#asking !== undefined) {
      await abortable(this.#asking, signal);
    }
    const elsewhere = this.#elsewhere;
    const url = elsewhere?.url ?? this.#url;
    if (url.origin === this.#url.origin) {
      for (const [name, value] of Object.entries(this.#headers)) {
        headers.set(name, value);
      }
    }
    const settled = elsewhere !== undefined
      ? (isTaken: boolean) => void (elsewhere.hasWorked ||= isTaken)
      : this.#redirects
      ? this.#ask()
      : undefined;
    return { url, headers, settled };
  }

  /** Has others wait for this request. */
  #ask(): (isTaken: boolean) => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asking = promise;
    return (isTaken) => {
      // It answers itself by now.
      if (isTaken && this.#elsewhere === undefined) this.#redirects = false;
      if (this.#asking === promise) this.#asking = undefined;
      resolve();
    };
  }

  react(response: Response, asked: URL): Promise<boolean> {
    const { status } = response;
    const to = response.headers.get("location");
    if (status < 400) {
      const url = to === null ? null : URL.parse(to, asked);
      const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
      // What was asked for over TLS, with what only the server may see, does not go on without.
      const isWeaker = asked.protocol === "https:" && url?.protocol === "http:";
      const hasKeys = `${url?.username ?? ""}${url?.password ?? ""}` !== "";
      if (!isWeb || isWeaker || hasKeys) return Promise.resolve(false);
      const asDirectory = `${unescaped(this.#url)}/`;
      if (unescaped(url!) === asDirectory) this.isDirectory = true;
      this.#elsewhere = { url: url!, hasWorked: false };
      this.#redirects = true;
      return Promise.resolve(true);
    }
    if (asked === this.#url) return Promise.resolve(false);
    const refused = this.#elsewhere?.url === asked
      ? this.#elsewhere
      : undefined;
    if (refused !== undefined) this.#elsewhere = undefined;
    // What was signed just now has not expired; another request may have been told meanwhile where it is now.
    const isOld = refused === undefined || refused.hasWorked;
    return Promise.resolve(EXPIRED.has(status) && isOld);
  }
}

/** A path by its bytes: servers don't agree on what is to be escaped, nor on the case of what is. */
function unescaped({ pathname }: URL): string {
  return pathname.replace(
    /%(?!2f)[0-9a-f]{2}/gi,
    (code) => String.fromCharCode(parseInt(code.slice(1), 16)),
  );
}

/** Parts of a query that sign it, or say who asks: another signature is of the same object. */
const SIGNATURE =
  /^(x-amz-|x-goog-|awsaccesskeyid$|googleaccessid$|signature$|expires$|policy$|key-pair-id$|(sig|se|sp|sv|sr|st|spr|skoid|sktid|skt|ske|sks|skv)$|token$|access_token$)/i;

function identityOf(url: URL): string {
  const rest = [...url.searchParams].filter(([name]) => !SIGNATURE.test(name));
  const query = new URLSearchParams(rest).toString();
  return `${withoutSecrets(url)}${query === "" ? "" : `?${query}`}`;
}

/**
 * The headers that a location's requests have: what it says before an @ is its name and password. Where neither that
 * nor a header says who asks, the user's `.netrc` does; of a name alone it says the password.
 */
export function headersOf(
  { url, userinfo }: HttpLocation,
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const isSaid = Object.keys(headers)
    .some((name) => name.toLowerCase() === "authorization");
  if (isSaid) return headers;
  const name = userinfo?.match(/^([^:]+):$/)?.[1];
  const known = userinfo === undefined || name !== undefined
    ? loginFor(url, name)
    : undefined;
  const who = known === undefined
    ? userinfo
    : `${known.name}:${known.password}`;
  if (who === undefined) return headers;
  const bytes = new TextEncoder().encode(who);
  return { authorization: `Basic ${bytes.toBase64()}`, ...headers };
}
