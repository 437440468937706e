import type { Client, RequestLimits } from "../client.ts";
import type { ListedFile } from "../listed_file.ts";
import type { HttpLocation } from "../remote_location.ts";
import { RemoteError } from "../remote_error.ts";
import type { RemoteServer } from "../remote_server.ts";
import { readText } from "../read_text.ts";
import { headersOf, HttpTarget } from "./http_target.ts";
import { entriesOfPage } from "./list_page.ts";

/** Accepted listings. JSON has sizes and times. Servers without content negotiation send what they have. */
const LISTINGS = "application/json, text/html;q=0.9, */*;q=0.1";

export class HttpRemoteServer implements RemoteServer {
  readonly hidesDirectories = false;
  readonly #root: string;
  readonly #url: URL;
  readonly #client: Client;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    root: string,
    location: HttpLocation,
    client: Client,
    headers?: Readonly<Record<string, string>>,
  ) {
    this.#root = root;
    this.#url = location.url;
    this.#client = client;
    this.#headers = headersOf(location, headers);
  }

  target(path: string): HttpTarget {
    return new HttpTarget(this.#urlOf(path), this.#headers);
  }

  async list(
    path: string,
    patience: RequestLimits,
  ): Promise<readonly ListedFile[] | undefined> {
    const url = this.#urlOf(path);
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    const target = new HttpTarget(url, this.#headers);
    return await this.#client.ask(target, {
      headers: () => new Headers({ accept: LISTINGS }),
      async take(response, watch) {
        if (response.status === 404) return undefined;
        const type = response.headers.get("content-type") ?? "";
        const text = await readText(response, watch);
        const entries = response.status === 200
          ? await entriesOfPage(text, type, new URL(response.url || url))
          : undefined;
        if (entries !== undefined) return entries;
        throw new RemoteError(
          "bad-answer",
          `Cannot list ${target.name}: the server sends no directory index (HTTP ${response.status}, ${
            type || "no type"
          }); give the URL of a file, or enable directory indexes (nginx: autoindex)`,
          { path: target.name, status: response.status },
        );
      },
    }, patience);
  }

  /** Returns the URL of a path: the part shared with the location as given there, other names encoded. */
  #urlOf(path: string): URL {
    const url = new URL(this.#url);
    if (path === this.#root) return url;
    let shared = this.#root;
    while (!path.startsWith(`${shared}/`)) {
      const slash = shared.lastIndexOf("/");
      if (slash <= url.origin.length) {
        shared = url.origin;
        break;
      }
      shared = shared.slice(0, slash);
    }
    const names = path.slice(shared.length + 1).split("/");
    const before = shared.slice(url.origin.length);
    url.pathname = [before, ...names.map(encodeURIComponent)].join("/");
    return url;
  }
}
