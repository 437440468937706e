/** API client. URLs are relative to the page, so that it may be below any path. */
import type { ErrorMessage } from "../api/messages.ts";
import { takeAhead } from "./ahead.ts";
import { problemLine } from "./dom.ts";
import { beginRequest, noteFailure } from "./server_state.ts";

/** Error that the server reports, or a failed connection. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Query parameters. `path` is already percent-encoded, like {@linkcode Entry.url}. */
export type Query = Readonly<Record<string, string | number | undefined>>;

function apiUrl(name: string, query: Query): string {
  const parts = Object.entries(query).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [`${key}=${key === "path" ? value : encodeURIComponent(value)}`]
  );
  return parts.length === 0 ? `api/${name}` : `api/${name}?${parts.join("&")}`;
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  const noteAnswer = beginRequest();
  try {
    response = await (takeAhead(url) ?? fetch(url, init));
    init.signal?.throwIfAborted();
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw unreachable(cause);
  }
  noteAnswer();
  if (response.ok) return response;
  const said: Partial<ErrorMessage> = await response.json().catch(() => ({}));
  throw new ServerError(
    said.error?.code ?? String(response.status),
    said.error?.message ??
      `The server answered ${response.status} ${response.statusText}`,
  );
}

export async function get<T>(
  name: string,
  query: Query,
  signal: AbortSignal,
): Promise<T> {
  const response = await ask(apiUrl(name, query), { signal });
  try {
    return await response.json();
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw unreachable(cause);
  }
}

function unreachable(cause: unknown): ServerError {
  noteFailure();
  return new ServerError(
    "unreachable",
    "The server does not answer. Is recordfs still running?",
    { cause },
  );
}

/** Streams a response line by line. Throws `ServerError` if the request fails, or a line is an error. */
export async function* lines<T extends object>(
  name: string,
  query: Query,
  signal: AbortSignal,
  method = "GET",
): AsyncGenerator<Exclude<T, ErrorMessage>, void, undefined> {
  const response = await ask(apiUrl(name, query), { signal, method });
  const reader = response.body!.pipeThrough(new TextDecoderStream())
    .getReader();
  try {
    for (let rest = "";;) {
      const { done, value = "" } = await reader.read().catch(
        (cause: unknown) => {
          throw signal.aborted ? cause : unreachable(cause);
        },
      );
      const parts = (rest + value).split("\n");
      rest = done ? "" : parts.pop()!;
      for (const part of parts) {
        if (part === "") continue;
        const line: T = JSON.parse(part);
        if (isError(line)) {
          throw new ServerError(line.error.code, line.error.message);
        }
        yield line as Exclude<T, ErrorMessage>;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {}); // it may have failed already
  }
}

function isError(line: object): line is ErrorMessage {
  return "error" in line;
}

export function fileUrl(url: string): string {
  return `files/${url}`;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof ServerError && error.code === "unreachable";
}

/** Creates an error line. A damaged container is styled differently from an unreachable server. */
export function problemOf(error: unknown): HTMLElement {
  const line = problemLine(messageOf(error));
  line.classList.toggle("gone", isUnreachable(error));
  return line;
}
