import { FormatError, PathError, RecordfsError } from "../base/errors.ts";
import type { ErrorMessage } from "./api/messages.ts";
import { ServeError, type ServeErrorCode } from "./serve_error.ts";

/** Headers as a response takes them fastest. */
export type HeaderList = [name: string, value: string][];

/** What no answer is without: no type is guessed, and no other site embeds it. */
export const SAFE: Readonly<HeaderList> = [
  ["x-content-type-options", "nosniff"],
  ["cross-origin-resource-policy", "same-origin"],
  ["referrer-policy", "no-referrer"],
];

/** What may be done in an answer that is a document of ours and loads nothing. */
export const NOTHING =
  "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const encoder = new TextEncoder();

/** An answer with any body; of one that is there, its head says how long it is. */
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

/** An answer in JSON. */
export function json(
  value: unknown,
  status = 200,
  headers: ServeError["headers"] = [],
): Response {
  return jsonOf(JSON.stringify(value), status, headers);
}

/** An answer that is JSON already. */
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

/** A page that loads nothing. */
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

/** A redirection within the server. */
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
 * The body of an answer to HEAD whose content has a length that is not known: with none at all, Deno says that it has no
 * bytes, and RFC 9110, 8.6 wants the length of GET or no word of it.
 */
export function unsent(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

/** Text as it stands in HTML and XML, between tags or in quotes; what XML cannot hold is a question mark. */
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

/** An answer in plain text, of one line. */
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

/** What is said of an error: its code, its message and the status that answers it. */
export interface Refusal extends ErrorMessage {
  readonly status: number;
}

const CODES: Readonly<Record<string, ServeErrorCode>> = {
  "not-found": "not-found",
  "is-directory": "is-directory",
  "not-directory": "not-directory",
  "index-range": "not-found",
};

/** Describes an error for whoever asked: what is not about the request or the container is not told. */
export function refusalOf(error: unknown): Refusal {
  const serve = asServeError(error);
  const { code, message, status } = serve;
  return { status, error: { code, message } };
}

/** The error that answers one of any kind. */
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
    "The server failed at this; its log says why",
    cause,
  );
}
