import { stripTypeScriptTypes } from "node:module";
import { createHash } from "node:crypto";
import { answerOf, type HeaderList, SAFE, unsent } from "./responses.ts";
import type { RequestLike } from "./request_like.ts";
import { ServeError } from "./serve_error.ts";

const TYPES: Readonly<Record<string, string>> = {
  ts: "text/javascript; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
};

/** Content security policy of the page: its own files only, no inline code or styles. */
const POLICY = [
  "default-src 'none'",
  ...["script", "style", "img", "media", "connect"].map((kind) =>
    `${kind}-src 'self'`
  ),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) =>
    `${kind} 'none'`
  ),
].join("; ");

interface Asset {
  readonly content: string;
  readonly headers: HeaderList;
  readonly etag: string;
}

/** Files in the page's folder. Modules are served with their types stripped, without a build step. */
export class Assets {
  readonly #loaded = new Map<string, Promise<Asset>>();

  /** Responds with a file at a path in the page's folder, such as `listing/grid.ts`. Throws if there is none. */
  async answer(
    { headers: asked, method }: RequestLike,
    path: string,
  ): Promise<Response> {
    if (!/^([a-z0-9_]+\/)*[A-Za-z0-9_.-]+\.(ts|js|css|html|svg)$/.test(path)) {
      throw noFile();
    }
    const asset = await this.#load(path);
    let { headers } = asset;
    if (path === "index.html") {
      // Preloads them while the browser parses the document.
      this.#loadAllOf(asset.content);
      headers = [...headers, ...openerPolicy(asked.get("sec-fetch-site"))];
    }
    if (asked.get("if-none-match") === asset.etag) {
      return new Response(null, { status: 304, headers });
    }
    const body = method === "HEAD" ? unsent() : asset.content;
    return answerOf(body, 200, headers);
  }

  #load(path: string): Promise<Asset> {
    let loading = this.#loaded.get(path);
    if (loading === undefined) {
      loading = load(path);
      this.#loaded.set(path, loading);
      // Failures are not cached.
      loading.catch(() => this.#loaded.delete(path));
    }
    return loading;
  }

  /** Preloads the files that a document refers to. A failed load is reported to the request for the file. */
  #loadAllOf(html: string): void {
    for (const [, path] of html.matchAll(/(?:href|src)="page\/([^"]+)"/g)) {
      this.#load(path!).catch(() => {});
    }
  }
}

/**
 * Isolates the window from another site's page that opened it. If the user opened it, there is no such page, and the
 * header would only make the browser start over in another process, which takes a quarter of the time until the first
 * entries show.
 *
 * @param site Initiator of the request, as `Sec-Fetch-Site` has it: `none` is the user.
 */
function openerPolicy(site: string | null): HeaderList {
  const vary: HeaderList = [["vary", "sec-fetch-site"]];
  return site === "none" || site === "same-origin"
    ? vary
    : [...vary, ["cross-origin-opener-policy", "same-origin"]];
}

async function load(path: string): Promise<Asset> {
  const text = await assetText(path);
  const suffix = path.slice(path.lastIndexOf(".") + 1);
  const content = suffix === "ts" ? stripTypeScriptTypes(text) : text;
  const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
  return {
    content,
    etag,
    headers: [
      ["content-type", TYPES[suffix]!],
      ["cache-control", "private, no-cache"],
      ["etag", etag],
      ["content-security-policy", POLICY],
      ...SAFE,
    ],
  };
}

/** Reads a file in the page's folder by the module loader, so from wherever this program was loaded. */
export async function assetText(path: string): Promise<string> {
  const { href: url } = new URL(`./page/${path}`, import.meta.url);
  try {
    const module: { default: string } = await import(url, {
      with: { type: "text" },
    });
    return module.default;
  } catch (cause) {
    throw noFile(cause);
  }
}

function noFile(cause?: unknown): ServeError {
  return new ServeError("not-found", "The page has no such file", { cause });
}
