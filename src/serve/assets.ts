import { stripTypeScriptTypes } from "node:module";
import { createHash } from "node:crypto";
import { answerOf, type HeaderList, SAFE, unsent } from "./answers.ts";
import type { RequestLike } from "./request_like.ts";
import { ServeError } from "./serve_error.ts";

/** Types of the page's own files, by their endings. */
const TYPES: Readonly<Record<string, string>> = {
  ts: "text/javascript; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
};

/** What the page may load: its own files, and nothing from elsewhere, nor anything that stands in a document. */
const POLICY = [
  "default-src 'none'",
  ...["script", "style", "img", "media", "connect"].map((kind) =>
    `${kind}-src 'self'`
  ),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) =>
    `${kind} 'none'`
  ),
].join("; ");

/** A file of the page, as it is sent. */
interface Asset {
  readonly content: string;
  readonly headers: HeaderList;
  readonly etag: string;
}

/**
 * The page's files: modules without their types, as they are imported in the browser; nothing is built, and nothing but
 * what stands in the folder of the page is given out.
 */
export class Assets {
  readonly #loaded = new Map<string, Promise<Asset>>();

  /**
   * Answers a request for a file of the page.
   *
   * @param path In the folder of the page: `index.html`, `listing/grid.ts`.
   * @throws {ServeError} If there is none.
   */
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
      // By the time that the browser has read it, they are at hand.
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
      // Of names that are none, nothing stays.
      loading.catch(() => this.#loaded.delete(path));
    }
    return loading;
  }

  /** Loads the files that a document asks for; who asks for one of them is told what is wrong with it. */
  #loadAllOf(html: string): void {
    for (const [, path] of html.matchAll(/(?:href|src)="page\/([^"]+)"/g)) {
      this.#load(path!).catch(() => {});
    }
  }
}

/**
 * Takes the window from a page of another site that opened it. One that somebody opened for himself nobody holds, and
 * there the browser would begin again in another process, which takes it a quarter of the time to the first entries.
 *
 * @param site Who asks, as browsers say it: `none` is their user.
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

/** Reads a file in the folder of the page as modules are read, wherever this program was loaded from. */
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
