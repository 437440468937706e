/** Serves packed folders made by tests, and sends them raw requests. */
import assert from "node:assert/strict";
import { open } from "../../../src/open/open.ts";
import { serve, type ServedAddress } from "../../../src/serve/serve.ts";
import type { ServeOptions } from "../../../src/serve/options.ts";
import { ffrBytes, type Folder, packedSamples } from "../ffrecord/make_ffr.ts";

const encoder = new TextEncoder();

/** A served folder. */
export interface ServedFolder extends AsyncDisposable {
  readonly server: ServedAddress;
  /** Requests a path with the token. */
  get(path: string, init?: RequestInit): Promise<Response>;
}

/** Files by name, as text or bytes. */
export interface Files {
  readonly [name: string]: Files | Uint8Array | string;
}

/** Returns a packed folder of these files. */
export function packed(files: Files): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(ffrBytes(packedSamples(folderOf(files))));
}

/** Serves a packed folder of these files, in memory. */
export async function serveFolder(
  files: Files,
  options: ServeOptions = {},
): Promise<ServedFolder> {
  return served(await open(packed(files)), options);
}

/** Serves an open container, which is closed with the server. */
export function served(
  container: Awaited<ReturnType<typeof open>>,
  options: ServeOptions = {},
): ServedFolder {
  const server = serve(container, { onError() {}, ...options });
  const { token } = server;
  return {
    server,
    get(path, init = {}) {
      const headers = new Headers(init.headers);
      if (token !== null && !headers.has("authorization")) {
        headers.set("authorization", `Bearer ${token}`);
      }
      const url = new URL(path, server.url);
      return fetch(url, { redirect: "manual", ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      container.close();
    },
  };
}

/** Requests a streamed response of the API, and parses its lines. */
export async function linesOf<T>(
  folder: ServedFolder,
  question: string,
  method = "GET",
): Promise<T[]> {
  const response = await folder.get(`api/${question}`, { method });
  assert.equal(response.status, 200, question);
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  const text = await response.text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

function folderOf(files: Files): Folder {
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => [
      name,
      typeof content === "string"
        ? encoder.encode(content)
        : content instanceof Uint8Array
        ? content
        : folderOf(content),
    ]),
  );
}

/** A raw response. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends the exact bytes of a request, and reads the whole response. */
export async function raw(
  { port }: ServedAddress,
  lines: readonly string[],
): Promise<RawAnswer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const text = [...lines, "Connection: close", "", ""].join("\r\n");
  const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
  for (let rest = bytes; rest.length > 0;) {
    rest = rest.subarray(await connection.write(rest));
  }
  const answer = await new Response(connection.readable).text();
  const end = answer.indexOf("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]),
    head: answer.slice(0, end),
    body: answer.slice(end + 4),
  };
}
