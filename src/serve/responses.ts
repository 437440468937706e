import { FormatError, PathError, RecordfsError } from "../base/errors.ts";
import type { ErrorMessage } from "./api/messages.ts";
import { ServeError, type ServeErrorCode } from "./serve_error.ts";

/** Headers in the form that `Response` takes fastest. */
export type HeaderList = [name: string, value: string][];

/** Headers of every response: forbid type sniffing and embedding by other sites. */
export const SAFE: Readonly<HeaderList> = [
  ["x-content-type-options", "nosniff"],
  ["cross-origin-resource-policy", "same-origin"],
  ["referrer-policy", "no-referrer"],
];

/** Content security policy of our own documents that load nothing. */
export const NOTHING =
  "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const encoder = new TextEncoder();

/** Creates a response. Its `content-length` is set unless the body is a stream. */
export function answerOf(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  status: number,
  headers: Readonly<HeaderList>,
): Response {
  if (body instanceof ReadableStream) {
    return new Response(body, { status, headers: [...headers] });
  }
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return new Response(bytes, {
    status,
    headers: [["content-length", `${bytes.length}`], ...headers],
  });
}

export function json(
  value: unknown,
  status = 200,
  headers: ServeError["headers"] = [],
): Response {
  return jsonOf(JSON.stringify(value), status, headers);
}

/** Creates a response from encoded JSON. */
export function jsonOf(
  text: string | Uint8Array<ArrayBuffer>,
  status = 200,
  headers: ServeError["headers"] = [],
): Response {
  return answerOf(text, status, [
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
    ["content-security-policy", NOTHING],
    ...SAFE,
    ...headers.map(([name, value]): [string, string] => [name, value]),
  ]);
}

/** Creates an HTML response that runs no scripts. */
export function page(
  html: string | ReadableStream<Uint8Array>,
  status = 200,
): Response {
  return answerOf(html, status, [
    ["content-type", "text/html; charset=utf-8"],
    ["cache-control", "no-store"],
    [
      "content-security-policy",
      "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ],
    ...SAFE,
  ]);
}

export function redirect(
  location: string,
  status: 301 | 303,
  headers: HeaderList = [],
): Response {
  return new Response(null, {
    status,
    headers: [
      ["location", location],
      ["cache-control", "no-store"],
      ...SAFE,
      ...headers,
    ],
  });
}

/**
 * Body of a HEAD response whose content length is unknown. Without a body, Deno would send `content-length: 0`, but RFC
 * 9110, 8.6 requires the length of the GET response or none.
 */
export function unsent(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

/** Escapes text for HTML, XML and quoted attributes; what XML cannot represent becomes a question mark. */
export function escapeMarkup(text: string): string {
  return text.toWellFormed().replaceAll(
    // deno-lint-ignore no-control-regex -- those that XML has not
    /[&<>"'\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g,
    (char) => ENTITIES[char] ?? "?",
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function text(
  line: string,
  status: number,
  headers: ServeError["headers"] = [],
): Response {
  return answerOf(`${line}\n`, status, [
    ["content-type", "text/plain; charset=utf-8"],
    ["cache-control", "no-store"],
    ["content-security-policy", NOTHING],
    ...SAFE,
    ...headers.map(([name, value]): [string, string] => [name, value]),
  ]);
}

export interface Refusal extends ErrorMessage {
  readonly status: number;
}

const CODES: Readonly<Record<string, ServeErrorCode>> = {
  "not-found": "not-found",
  "is-directory": "is-directory",
  "not-directory": "not-directory",
  "index-range": "not-found",
};

/** Describes an error for the client, without details that concern neither the request nor the container. */
export function refusalOf(error: unknown): Refusal {
  const serve = asServeError(error);
  const { code, message, status } = serve;
  return { status, error: { code, message } };
}

export function asServeError(error: unknown): ServeError {
  if (error instanceof ServeError) return error;
  const cause = { cause: error };
  if (error instanceof PathError) {
    return new ServeError(CODES[error.code]!, error.message, cause);
  }
  if (error instanceof FormatError) {
    const code = error.code === "unreadable-member" ? error.code : "damaged";
    return new ServeError(code, error.message, cause);
  }
  if (error instanceof RecordfsError) {
    const code = CODES[error.code] ?? "failed";
    return new ServeError(code, error.message, cause);
  }
  return new ServeError(
    "failed",
    "Cannot answer: the server failed. Its log has the reason",
    cause,
  );
}
