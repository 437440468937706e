import { goOn, type Steps } from "../io/concurrency/steps.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { RecordfsError } from "../base/errors.ts";
import {
  type Gate,
  hasToken,
  refuseForeign,
  requireSession,
  requireToken,
} from "./access/gate.ts";
import { Hosts } from "./access/hosts.ts";
import { isForm, Login } from "./access/login.ts";
import {
  newSession,
  type SessionSecrets,
  TokenSession,
} from "./access/session.ts";
import { TOKEN, Token } from "./access/token.ts";
import { tokenPage } from "./access/token_page.ts";
import { asksForHtml } from "./accept.ts";
import { allowOrigin, originOf, preflight } from "./access/cors.ts";
import type { ResponseRoom } from "./response_room.ts";
import { asServeError, json, redirect, text } from "./responses.ts";
import { Api, memoryFor } from "./api/api.ts";
import { Assets } from "./assets.ts";
import { Dav } from "./dav/dav.ts";
import { Contents } from "./files/content.ts";
import { FileResponses } from "./files/file_response.ts";
import { FileRoutes } from "./files/file_routes.ts";
import { ThumbnailStore } from "./files/thumbnail_store.ts";
import { Thumbnails } from "./files/thumbnails.ts";
import type { ResponseBuffer } from "./http/response_buffer.ts";
import type { HandlerOptions } from "./options.ts";
import type { RequestLike } from "./request_like.ts";
import { basePathOf, splitUrl } from "./paths.ts";
import { Served } from "./served.ts";
import { ServeError } from "./serve_error.ts";
import { Streams } from "./streams.ts";
import { isLate, itsTurn } from "./its_turn.ts";
import { SharedCounts } from "./threads/shared_counts.ts";
import { waitFor } from "./wait_for.ts";

export type HandlerResponse = Response | Promise<Response>;

/** {@linkcode handler} for the built-in server. */
export interface RequestHandler {
  handle(request: RequestLike): HandlerResponse;
  /**
   * Responds to any request. If a buffer is given, the response of a cached plain file is written to it, and
   * `undefined` returned.
   */
  handle(
    request: RequestLike,
    buffer: ResponseBuffer | undefined,
  ): HandlerResponse | undefined;
  /** Whether the head of a request has the token, or is for the page with its cookie, if a token is required. */
  isKnown(lines: RequestLike): boolean;
  /** Terminates the worker threads. */
  close(): void;
}

/**
 * Creates a request handler that serves a container from a custom server. `/files/` has the files, `/dav/` the same
 * over WebDAV, `/api/` the page's API. `/?token=TOKEN` redirects to the page, which is at `/` if there is no token.
 *
 * @param container Owned by the caller, who must not close it while requests are handled.
 * @throws {RecordfsError} With code `bad-option` if the token is too short, or the base path, an origin or a host is
 * invalid.
 *
 * @example In a server that has more to do
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import { handler } from "@recordfs/recordfs/serve";
 * import assert from "node:assert/strict";
 *
 * using container = await open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * const answer = handler(container, { token: null, basePath: "/data" });
 * const response = await answer(new Request("http://localhost/data/files/..."));
 * assert.equal((await response.bytes()).length, 28);
 * ```
 */
export function handler(
  container: VirtualFs,
  options: HandlerOptions,
): (request: Request) => Response | Promise<Response> {
  const session = newSession(false);
  const answerer = answererOf(container, options, session, new SharedCounts());
  return (request) => answerer.handle(request);
}

/** Creates a {@linkcode handler} for the built-in server, which may have others in other threads. */
export function answererOf(
  container: VirtualFs,
  options: HandlerOptions,
  session: SessionSecrets,
  counts: SharedCounts,
): RequestHandler {
  return new Handler(container, options, session, counts);
}

interface Root {
  /** Without a trailing slash. */
  readonly base: string;
  readonly filesPath: string;
}

/** Paths of links to the page, relative to the base path, including links printed by an earlier server. */
const LINK = /^(s\/[^/]*\/?)?$/;

class Handler implements RequestHandler {
  readonly #root: Root;
  readonly #gate: Gate;
  /** `undefined` if no token is required. */
  readonly #login: Login | undefined;
  readonly #files: FileRoutes;
  readonly #dav: Dav;
  readonly #api: Api;
  readonly #assets = new Assets();
  readonly #streams: Streams;
  readonly #onError: (error: unknown) => void;

  constructor(
    container: VirtualFs,
    options: HandlerOptions,
    session: SessionSecrets,
    counts: SharedCounts,
  ) {
    const { token, cors = [], allowHosts = [], trustProxy = false } = options;
    const base = basePathOf(options.basePath ?? "/");
    this.#root = { base, filesPath: `${base}/files/` };
    if (token !== null && !TOKEN.test(token)) {
      throw new RecordfsError(
        "bad-option",
        "The token must be 16 to 1,024 letters, digits and -._~+/, and secret",
      );
    }
    this.#gate = {
      hosts: new Hosts(allowHosts),
      token: token === null ? undefined : new Token(token),
      session: token === null ? undefined : new TokenSession(session, base),
      origins: new Set(cors.map(originOf)),
    };
    const gate = this.#gate;
    this.#login = gate.token && gate.session &&
      new Login(gate.token, gate.session, trustProxy);
    this.#onError = options.onError ?? tellOnConsole;
    this.#streams = new Streams({
      ...options,
      onError: this.#onError,
      counts,
    });
    const served = new Served(container, this.#streams);
    const contents = new Contents(served);
    const answers = new FileResponses(served, contents);
    const store = new ThumbnailStore(options.cache);
    const thumbnails = new Thumbnails(served, contents, answers, store);
    this.#files = new FileRoutes(served, contents, answers, thumbnails);
    this.#dav = new Dav(served, answers, base);
    this.#api = new Api(served, contents, thumbnails, options, counts);
  }

  handle(request: RequestLike): HandlerResponse;
  handle(
    request: RequestLike,
    buffer: ResponseBuffer | undefined,
  ): HandlerResponse | undefined;
  handle(
    request: RequestLike,
    buffer?: ResponseBuffer,
  ): HandlerResponse | undefined {
    const { authority, path, query } = splitUrl(request.url);
    const { session } = this.#gate;
    const isOfPage = session !== undefined && session.has(path);
    const root = isOfPage ? session : this.#root;
    let answered: HandlerResponse;
    try {
      refuseForeign(this.#gate, request, authority);
      if (isForm(request) && !this.isKnown(request) && isIn(root, path)) {
        const rest = path.slice(root.base.length + 1);
        // Not counted as a response in progress: clients without the token could occupy all of them.
        answered = this.#login!.byForm(request, rest, query)
          .catch((error) => this.#refuse(error, root, request, path));
        return answered.then((response) => this.#finish(request, response));
      }
      if (isPlain(request, path, query, root)) {
        this.#requireAccess(request, isOfPage);
        const { hot } = this.#files;
        const rest = path.slice(root.filesPath.length);
        // Responses readable by other sites need more headers.
        if (buffer !== undefined && this.#gate.origins.size === 0) {
          if (hot.answerInto(request.headers, rest, buffer)) return undefined;
        } else {
          const response = hot.answer(request.headers, rest);
          if (response !== undefined) return this.#finish(request, response);
        }
      }
      const steps = this.#answer(request, root, path, query);
      const isOfFile = path.startsWith(root.filesPath);
      const room = isOfFile ? undefined : request.room;
      const { leaving } = request;
      if (room !== undefined || isLate()) {
        const bytes = memoryFor(query);
        answered = this.#streams.count(() =>
          inTurn(steps, room, bytes, leaving)
        );
      } else {
        // Cached responses are returned synchronously: a promise would cost a tenth of their time.
        const step = steps.next();
        answered = step.done
          ? step.value
          : this.#streams.count(() => goOn(steps, step, leaving));
      }
    } catch (error) {
      answered = this.#refuse(error, root, request, path);
    }
    if (answered instanceof Response) return this.#finish(request, answered);
    return answered
      .catch((error) => this.#refuse(error, root, request, path))
      .then((response) => this.#finish(request, response));
  }

  isKnown(lines: RequestLike): boolean {
    const { session } = this.#gate;
    const isOfPage = session?.has(splitUrl(lines.url).path) === true;
    return isOfPage && session!.isIn(lines.headers) ||
      hasToken(this.#gate, lines);
  }

  close(): void {
    this.#api.close();
  }

  #requireAccess(request: RequestLike, isOfPage: boolean): void {
    if (isOfPage) requireSession(this.#gate, request);
    else requireToken(this.#gate, request);
  }

  *#answer(
    request: RequestLike,
    root: Root,
    path: string,
    query: string,
  ): Steps<Response> {
    const asked = preflight(this.#gate, request);
    if (asked !== undefined) return asked;
    const { base, filesPath } = root;
    const { session } = this.#gate;
    const isBase = path === base && base !== "";
    if (!isBase && !isIn(root, path)) {
      throw notHere(
        "paths start with the base path that the server was started with",
      );
    }
    const rest = path.slice(base.length + 1);
    const isLink = rest === "" || session !== undefined && LINK.test(rest);
    if (isLink && query.startsWith("token=")) {
      const given = query.slice("token=".length);
      return this.#login?.byLink(request, given) ??
        redirect(`${this.#root.base}/`, 303);
    }
    if (isBase) return redirect(`${base}/`, 301);
    const isOfPage = root === session;
    const asset = assetOf(rest);
    // The page's own files need no cookie: they are the same for every container, and the page reports what is missing.
    if (!isOfPage || asset === undefined) {
      this.#requireAccess(request, isOfPage);
    }
    if (rest.startsWith("files/")) {
      return yield* this.#files.answer(
        request,
        filesPath,
        rest.slice(6),
        query,
      );
    }
    if (rest.startsWith("api/")) {
      return yield* this.#api.answer(request, rest.slice(4), query);
    }
    if (!isOfPage) {
      if (rest.startsWith("dav/") || rest === "dav") {
        return yield* this.#dav.answer(request, rest.slice(4));
      }
      if (this.#dav.isForRoot(request, rest)) {
        return yield* this.#dav.answerRoot(request);
      }
    }
    if (rest === "files") return redirect(filesPath, 301);
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new ServeError(
        "bad-method",
        `The method ${request.method} is unsupported here`,
        {
          headers: [["allow", "GET, HEAD"]],
        },
      );
    }
    if (asset === undefined) {
      throw notHere(
        `files are below ${filesPath}, and the page is at ${base}/`,
      );
    }
    return yield* waitFor(() => this.#assets.answer(request, asset));
  }

  #refuse(
    error: unknown,
    { base }: Root,
    { method, headers: asked, leaving }: RequestLike,
    path: string,
  ): HandlerResponse {
    const refusal = asServeError(error);
    const { code, status, message, headers } = refusal;
    const isLeft = leaving?.aborted === true; // the client has disconnected
    if (status === 500 && !isLeft) this.#onError(error);
    const rest = path.slice(base.length + 1);
    const all = [...headers];
    if (status === 401) {
      const isOfBrowser = /^(GET|HEAD|POST)$/.test(method) &&
        asksForHtml(asked.get("accept"));
      if (isOfBrowser) return tokenPage(refusal);
      all.push(["vary", "accept"]);
      // Programs send a password for files; the page has its link.
      const isPage = base !== this.#root.base || rest === "" ||
        /^(api|page|s)\//.test(rest);
      all.push([
        "www-authenticate",
        isPage ? "Bearer" : 'Basic realm="recordfs", charset="UTF-8"',
      ]);
    }
    if (code === "too-many-requests") all.push(["retry-after", "1"]);
    if (rest.startsWith("api/")) {
      return json({ error: { code, message } }, status, all);
    }
    return text(`${code}: ${message}`, status, all);
  }

  #finish(request: RequestLike, response: Response): Response {
    return this.#gate.origins.size === 0
      ? response
      : allowOrigin(this.#gate, request, response);
  }
}

function isIn({ base }: Root, path: string): boolean {
  return path.startsWith(`${base}/`);
}

/** Whether a request may be for a file that needs no waiting. */
function isPlain(
  { method }: RequestLike,
  path: string,
  query: string,
  { filesPath }: Root,
): boolean {
  return method === "GET" && query === "" && path.startsWith(filesPath);
}

/** Returns the page's file at a path relative to the base path, if any. */
function assetOf(rest: string): string | undefined {
  if (rest === "") return "index.html";
  return rest.startsWith("page/") ? rest.slice(5) : undefined;
}

/**
 * Creates a response with low priority: cached small files of other requests come first.
 *
 * @param room Memory budget to wait for, if the response's size is known only afterwards.
 * @param bytes Estimated bytes needed to make it.
 * @param leaving Aborted when the client disconnects.
 */
async function inTurn(
  steps: Steps<Response>,
  room: ResponseRoom | undefined,
  bytes: number,
  leaving: AbortSignal | undefined,
): Promise<Response> {
  await room?.wait(bytes);
  await itsTurn();
  const response = await goOn(steps, steps.next(), leaving);
  room?.made(Number(response.headers.get("content-length") ?? 0));
  return response;
}

/** Default error log: container errors in one line, others with their stack. */
export function tellOnConsole(error: unknown): void {
  const isNamed = error instanceof RecordfsError;
  // deno-lint-ignore no-console -- as said
  console.error(isNamed ? `recordfs: ${error.message}` : error);
}

function notHere(where: string): ServeError {
  return new ServeError(
    "not-found",
    `Cannot answer: there is nothing here: ${where}`,
  );
}
