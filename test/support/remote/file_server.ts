/** A web server of a directory, in this process, with faults on request. */
import * as fs from "node:fs";
import type http from "node:http";
import { createHash } from "node:crypto";
import { type Certificate, LocalServer } from "./local_server.ts";

/** A recorded request. */
export interface Asked {
  readonly path: string;
  /** Parameters after the question mark. */
  readonly query: URLSearchParams;
  readonly range: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
}

/**
 * Responds to a request in place of the server, or leaves it to the server.
 *
 * @returns Whether it has responded.
 */
export type Fault = (
  asked: Asked,
  response: http.ServerResponse,
  file: Uint8Array | undefined,
) => boolean;

/** Web server of a directory. */
export class FileServer extends LocalServer {
  readonly #root: string;
  /** The last requested file, which is reread only if it has changed: most tests have a single file. */
  #last: { readonly state: string; readonly bytes: Uint8Array } | undefined;
  /** All requests, in order. */
  readonly asked: Asked[] = [];
  /** The current fault. */
  fault: Fault | undefined;

  private constructor(root: string, tls?: Certificate) {
    super(tls);
    this.#root = root;
  }

  /** Starts a server. */
  static async start(root: string, tls?: Certificate): Promise<FileServer> {
    return await new FileServer(root, tls).listen();
  }

  protected answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): void {
    const { pathname, searchParams } = new URL(this.url + request.url);
    const asked = {
      path: decodeURIComponent(pathname),
      query: searchParams,
      range: request.headers.range,
      headers: request.headers,
    };
    this.asked.push(asked);
    const place = `${this.#root}${asked.path}`;
    const stat = fs.statSync(place, { throwIfNoEntry: false });
    const file = stat?.isFile() ? this.#read(place) : undefined;
    if (this.fault?.(asked, response, file)) return;
    if (stat?.isDirectory()) this.#answerIndex(request.url!, place, response);
    else if (file === undefined) response.writeHead(404).end();
    else answerFile(asked, file, stat!.mtime, response);
  }

  #read(place: string): Uint8Array {
    const { ino, size, mtimeNs, ctimeNs } = fs.statSync(place, {
      bigint: true,
    });
    const state = [place, ino, size, mtimeNs, ctimeNs].join();
    if (this.#last?.state !== state) {
      this.#last = { state, bytes: fs.readFileSync(place) };
    }
    return this.#last.bytes;
  }

  #answerIndex(
    url: string,
    place: string,
    response: http.ServerResponse,
  ): void {
    if (!url.endsWith("/")) {
      response.writeHead(301, { location: `${this.url}${url}/` }).end();
      return;
    }
    const links = fs.readdirSync(place, { withFileTypes: true })
      .map((entry) => {
        const slash = entry.isDirectory() ? "/" : "";
        return `<a href="${encodeURIComponent(entry.name)}${slash}">x</a>`;
      });
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<html><a href="../">../</a>${links.join("\n")}</html>`);
  }
}

/** Returns the ETag of a file. */
export function tagOf(file: Uint8Array): string {
  let tag = tags.get(file);
  if (tag === undefined) {
    tag = `"${createHash("sha1").update(file).digest("hex")}"`;
    tags.set(file, tag);
  }
  return tag;
}

const tags = new WeakMap<Uint8Array, string>();

/** Responds as RFC 9110 requires: single ranges with both ends, and conditions. */
export function answerFile(
  { range, headers }: Pick<Asked, "range" | "headers">,
  file: Uint8Array,
  modified: Date,
  response: http.ServerResponse,
): void {
  const etag = tagOf(file);
  response.setHeader("etag", etag);
  response.setHeader("last-modified", modified.toUTCString());
  if (headers["if-none-match"] === etag) {
    response.writeHead(304).end();
    return;
  }
  const match = headers["if-match"];
  if (match !== undefined && match !== etag) {
    response.writeHead(412).end();
    return;
  }
  const parts = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
  if (parts === null) {
    response.writeHead(200, { "content-length": file.length }).end(file);
    return;
  }
  const start = Number(parts[1]);
  const end = Math.min(Number(parts[2]) + 1, file.length);
  if (start >= file.length) {
    response.writeHead(416, { "content-range": `bytes */${file.length}` })
      .end();
    return;
  }
  response.writeHead(206, {
    "content-length": end - start,
    "content-range": `bytes ${start}-${end - 1}/${file.length}`,
  }).end(file.subarray(start, end));
}
