import { abortable } from "../../concurrency/abortable.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import type { HttpLocation } from "../remote_location.ts";
import { withoutSecrets } from "../remote_location.ts";
import { loginFor } from "./netrc.ts";
import type { PreparedRequest, Target } from "../target.ts";

const HEADERS: NamedOption = { name: "headers" };

/** Status codes of stores for expired signatures, and of servers for files that have moved. */
const EXPIRED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

export class HttpTarget implements Target {
  readonly name: string;
  readonly identity: string;
  readonly advice =
    `Send the headers that the server requires, such as Authorization, with ${
      optionText(HEADERS)
    }, or use a newly signed URL`;
  readonly namedOptions = [HEADERS];
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  /** Redirect target, which may expire, and whether it has answered a request. */
  #elsewhere: { readonly url: URL; hasWorked: boolean } | undefined;
  /** Whether it has ever redirected. */
  #redirects = false;
  /** Pending while one request asks for the current redirect target. */
  #asking: Promise<void> | undefined;
  /** Whether it has redirected to the same path with a slash. */
  isDirectory = false;

  /** @param headers Sent only to this URL's scheme, host and port. */
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
    // When the redirect target has expired, one request asks for a new one, and others wait.
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

  #ask(): (isTaken: boolean) => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asking = promise;
    return (isTaken) => {
      // The server no longer redirects.
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
      // Never downgrades from TLS, because the request may have secrets.
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
    // A target signed just now has not expired. If it is no longer current, another request has got a new one.
    const isOld = refused === undefined || refused.hasWorked;
    return Promise.resolve(EXPIRED.has(status) && isOld);
  }
}

/** Decodes a path, because servers differ in what they escape, and in upper and lower case. */
function unescaped({ pathname }: URL): string {
  return pathname.replace(
    /%(?!2f)[0-9a-f]{2}/gi,
    (code) => String.fromCharCode(parseInt(code.slice(1), 16)),
  );
}

/** Query parameters that sign a URL or identify the requester. Other signatures are for the same object. */
const SIGNATURE =
  /^(x-amz-|x-goog-|awsaccesskeyid$|googleaccessid$|signature$|expires$|policy$|key-pair-id$|(sig|se|sp|sv|sr|st|spr|skoid|sktid|skt|ske|sks|skv)$|token$|access_token$)/i;

function identityOf(url: URL): string {
  const rest = [...url.searchParams].filter(([name]) => !SIGNATURE.test(name));
  const query = new URLSearchParams(rest).toString();
  return `${withoutSecrets(url)}${query === "" ? "" : `?${query}`}`;
}

/**
 * Returns the request headers for a location. User name and password come from the URL. If neither the URL nor a header
 * authenticates, they come from the user's `.netrc`, which also supplies the password for a name alone.
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
