import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { newExtent, type NodeId } from "../../tree/tree.ts";
import type { ResponseRoom } from "../response_room.ts";
import { answerOf, redirect, SAFE } from "../responses.ts";
import { describe, type ListedEntry } from "../entries.ts";
import type { FileResponses } from "../files/file_response.ts";
import { typeOfName } from "../files/content_type.ts";
import { etagOf } from "../files/etag.ts";
import { entryPages } from "../files/entry_pages.ts";
import { pageListing } from "../files/listings.ts";
import { decodePath, encodeUrlName } from "../paths.ts";
import type { RequestLike } from "../request_like.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import { type PropfindRequest, readPropfind } from "./propfind_request.ts";
import { type Resource, responseOf } from "./properties.ts";

const METHODS = "OPTIONS, PROPFIND, GET, HEAD";

/** Methods that change something (RFC 4918, 9; RFC 9110, 9.3; RFC 5789). */
const WRITING: ReadonlySet<string> = new Set([
  ...["PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK"],
  ...["UNLOCK", "PATCH", "POST"],
]);

/** Entries per piece of a response. */
const PAGE = 25;

const START =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n';
const END = "</D:multistatus>\n";
const FINITE =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n';

/** The files as read-only WebDAV, class 1. */
export class Dav {
  readonly #served: Served;
  readonly #answers: FileResponses;
  readonly #base: string;

  constructor(served: Served, answers: FileResponses, base: string) {
    this.#served = served;
    this.#answers = answers;
    this.#base = base;
  }

  /** Responds to a request below `/dav/`, for a path as in the URL. */
  *answer(request: RequestLike, path: string): Steps<Response> {
    const { method } = request;
    if (method === "OPTIONS") return options();
    refuseOthers(method);
    const node = yield* this.#served.get(path);
    const isDirectory = yield* this.#served.isDirectory(node);
    if (method === "PROPFIND") {
      return yield* this.#propfind(request, node, path, isDirectory);
    }
    const isCalledOne = path === "" || path.endsWith("/");
    if (!isDirectory) {
      if (isCalledOne) {
        throw new ServeError(
          "not-found",
          "Cannot list this: it is a file, not a collection",
        );
      }
      const name = path.slice(path.lastIndexOf("/") + 1);
      return yield* this.#answers.answer(request, node, name);
    }
    const base = `${this.#base}/dav/`;
    if (!isCalledOne || !request.url.split("?", 1)[0]!.endsWith("/")) {
      return redirect(path === "" ? base : `${base}${path}/`, 301);
    }
    const names = decodePath(path).map((name) => decodeName(name));
    const title = `/${names.join("/")}`;
    return pageListing(this.#served, node, title, request);
  }

  /** Whether a request is a WebDAV request for the server's root, where Windows looks first. */
  isForRoot({ method }: RequestLike, path: string): boolean {
    if (method === "OPTIONS") return path === "" || path === "*"; // `*` is the whole server
    return path === "" && method === "PROPFIND";
  }

  /** Responds to such a request: the root has one collection, the files. */
  *answerRoot(request: RequestLike): Steps<Response> {
    if (request.method === "OPTIONS") return options();
    const depth = depthOf(request);
    if (depth === "infinity") return infinite();
    const asked = yield* waitFor(() => readPropfind(request));
    const { mtime } = yield* this.#served.stat(yield* this.#served.get(""));
    const resource = (href: string, name: string): Resource => ({
      href,
      name,
      isDirectory: true,
      size: 0,
      mtime,
      etag: undefined,
      type: undefined,
      usedBytes: this.#served.fs.info.bytes,
    });
    const own = responseOf(resource(`${this.#base}/`, ""), asked);
    const files = depth === 0
      ? ""
      : responseOf(resource(`${this.#base}/dav/`, "dav"), asked);
    return multistatus(START + own + files + END);
  }

  *#propfind(
    request: RequestLike,
    node: NodeId,
    path: string,
    isDirectory: boolean,
  ): Steps<Response> {
    const depth = depthOf(request);
    if (depth === "infinity") return infinite();
    const asked = yield* waitFor(() => readPropfind(request));
    const whole = path.endsWith("/") ? path.slice(0, -1) : path;
    const name = decodeName(decodePath(path).at(-1) ?? new Uint8Array());
    const slash = isDirectory && whole !== "" ? "/" : "";
    const href = `${this.#base}/dav/${whole}${slash}`;
    const entry = yield* describe(this.#served.tree, { name, node, next: 0 });
    const own = responseOf(yield* this.#resource(entry, href), asked);
    if (depth === 0 || !isDirectory) return multistatus(START + own + END);
    return multistatus(this.#members(node, href, own, asked, request.room));
  }

  #members(
    directory: NodeId,
    href: string,
    own: string,
    asked: PropfindRequest,
    room: ResponseRoom | undefined,
  ): ReadableStream<Uint8Array> {
    return entryPages(this.#served, directory, {
      start: START + own,
      end: END,
      page: PAGE,
      describe: (entries) => this.#responses(entries, href, asked),
    }, room);
  }

  *#responses(
    entries: readonly ListedEntry[],
    href: string,
    asked: PropfindRequest,
  ): Steps<string> {
    let text = "";
    for (const entry of entries) {
      const slash = entry.isDirectory ? "/" : "";
      const own = `${href}${encodeUrlName(entry.name)}${slash}`;
      text += responseOf(yield* this.#resource(entry, own), asked);
    }
    return text;
  }

  *#resource(entry: ListedEntry, href: string): Steps<Resource> {
    const { tree, fs } = this.#served;
    const { name, node, isDirectory, size, mtime } = entry;
    const extent = newExtent();
    const hasExtent = !isDirectory && size !== null &&
      (yield* whenLoaded(() => tree.locate(node, extent)));
    return {
      ...{ href, name, isDirectory, size, mtime },
      etag: hasExtent ? etagOf(tree, extent) : undefined,
      type: isDirectory ? undefined : typeOfName(name),
      usedBytes: fs.info.bytes,
    };
  }
}

function options(): Response {
  return new Response(null, {
    headers: [
      ["dav", "1"],
      ["ms-author-via", "DAV"], // otherwise Windows assumes FrontPage
      ["allow", METHODS],
      ["content-length", "0"],
    ],
  });
}

/** @throws {ServeError} If the method is not supported. */
function refuseOthers(method: string): void {
  if (WRITING.has(method)) {
    throw new ServeError("read-only", "Containers are read-only");
  }
  if (["GET", "HEAD", "PROPFIND"].includes(method)) return;
  throw new ServeError(
    "bad-method",
    `The method ${method} is unsupported here`,
    {
      headers: [["allow", METHODS]],
    },
  );
}

/** Returns the `Depth` of a PROPFIND (RFC 4918, 9.1 and 10.2). */
function depthOf({ headers }: RequestLike): 0 | 1 | "infinity" {
  const depth = (headers.get("depth") ?? "infinity").trim().toLowerCase();
  if (depth === "0") return 0;
  if (depth === "1") return 1;
  if (depth === "infinity") return "infinity";
  throw new ServeError("bad-request", "Depth must be 0 or 1");
}

/** Rejects requests for a whole tree (RFC 4918, 9.1). */
function infinite(): Response {
  return xml(FINITE, 403);
}

function multistatus(body: string | ReadableStream<Uint8Array>): Response {
  return xml(body, 207);
}

function xml(
  body: string | ReadableStream<Uint8Array>,
  status: number,
): Response {
  return answerOf(body, status, [
    ["content-type", "application/xml; charset=utf-8"],
    ["cache-control", "no-store"],
    ["content-security-policy", "sandbox; default-src 'none'"],
    ...SAFE,
  ]);
}
