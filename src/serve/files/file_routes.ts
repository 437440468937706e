import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { redirect, SAFE, unsent } from "../responses.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { decodeName } from "../../base/names.ts";
import { decodePath } from "../paths.ts";
import type { RequestLike } from "../request_like.ts";
import { attachment } from "./disposition.ts";
import type { Contents } from "./content.ts";
import type { FileResponses } from "./file_response.ts";
import { CachedResponses } from "./cached_response.ts";
import { jsonListing, pageListing, wantsPage } from "./listings.ts";
import { refuseBomb } from "./picture_limit.ts";
import { tarPieces } from "./archive.ts";
import type { Thumbnails } from "./thumbnails.ts";

const METHODS = "GET, HEAD, OPTIONS";

/** Handler of `/files/`: files, directory listings, and directories as archives. */
export class FileRoutes {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #answers: FileResponses;
  readonly #thumbnails: Thumbnails;
  /** Fast path for simple requests that need no waiting. */
  readonly hot: CachedResponses;

  constructor(
    served: Served,
    contents: Contents,
    answers: FileResponses,
    thumbnails: Thumbnails,
  ) {
    this.#served = served;
    this.#contents = contents;
    this.hot = new CachedResponses(served, contents);
    this.#answers = answers;
    this.#thumbnails = thumbnails;
  }

  /** Responds to a request. `base` is the URL path up to `/files/`, and `path` what follows, as in the URL. */
  *answer(
    request: RequestLike,
    base: string,
    path: string,
    query: string,
  ): Steps<Response> {
    const { method } = request;
    if (method === "OPTIONS") {
      return new Response(null, { status: 204, headers: { allow: METHODS } });
    }
    if (method !== "GET" && method !== "HEAD") {
      throw new ServeError(
        "bad-method",
        `The method ${method} is unsupported for files`,
        {
          headers: [["allow", METHODS]],
        },
      );
    }
    const node = yield* this.#served.get(path);
    const isDirectory = yield* this.#served.isDirectory(node);
    const isCalledOne = path === "" || path.endsWith("/");
    if (!isDirectory) {
      if (isCalledOne) {
        throw new ServeError(
          "not-found",
          "Cannot list this: it is a file, not a directory. Remove the slash",
        );
      }
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (query.startsWith("most-pixels=")) {
        yield* refuseBomb(this.#served, node, query.slice(12));
      }
      if (query.startsWith("thumbnail=")) {
        const edge = query.slice("thumbnail=".length);
        return yield* this.#thumbnails.answer(request, node, name, edge);
      }
      return yield* this.#answers.answer(request, node, name);
    }
    if (!isCalledOne) {
      const behind = query === "" ? "" : `?${query}`;
      return redirect(`${base}${path}/${behind}`, 301);
    }
    return this.#directory(request, node, path, query);
  }

  #directory(
    request: RequestLike,
    node: NodeId,
    path: string,
    query: string,
  ): Response {
    const names = decodePath(path).map((name) => decodeName(name));
    if (query === "tar") {
      return this.#tar(request, node, names.at(-1) ?? "files");
    }
    return wantsPage(request, query)
      ? pageListing(this.#served, node, `/${names.join("/")}`, request)
      : jsonListing(this.#served, node, request);
  }

  #tar({ method, room }: RequestLike, node: NodeId, name: string): Response {
    const served = this.#served;
    const contents = this.#contents;
    const body = method === "HEAD" ? unsent() : served.streams.of(
      (signal) => tarPieces(served, contents, node, room, signal),
      { room },
    );
    return new Response(body, {
      headers: [
        ["content-type", "application/x-tar"],
        ["content-disposition", attachment(`${name}.tar`)],
        ["cache-control", "no-store"],
        ...SAFE,
      ],
    });
  }
}
