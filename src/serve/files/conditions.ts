import type { HeadersLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import { stateHeaders } from "./file_headers.ts";

/** State of a content, for conditional requests. */
export interface Validators {
  /** Strong entity tag: `"…"`. */
  readonly etag: string;
  /** In whole seconds since 1970. */
  readonly modified: number;
}

/** Result of a request's preconditions: continue, respond with 304, or with 412. */
export type Outcome = "go-on" | "not-modified" | "changed";

/** Evaluates the preconditions of a GET or HEAD in the order of RFC 9110, 13.2.2. */
export function outcomeOf(
  headers: HeadersLike,
  { etag, modified }: Validators,
): Outcome {
  const match = headers.get("if-match");
  if (match !== null) {
    if (!isListed(match, etag, true)) return "changed";
  } else {
    const since = secondsOf(headers.get("if-unmodified-since"));
    if (since !== undefined && modified > since) return "changed";
  }
  const noneMatch = headers.get("if-none-match");
  if (noneMatch !== null) {
    return isListed(noneMatch, etag, false) ? "not-modified" : "go-on";
  }
  const since = secondsOf(headers.get("if-modified-since"));
  return since !== undefined && modified <= since ? "not-modified" : "go-on";
}

/** Returns the 304 response if a GET's or HEAD's preconditions call for it. Throws `ServeError` for a 412. */
export function answerByConditions(
  headers: HeadersLike,
  state: Validators,
): Response | undefined {
  const outcome = outcomeOf(headers, state);
  if (outcome === "changed") {
    throw new ServeError(
      "changed",
      "Cannot send the file: it does not match the conditions of the request",
    );
  }
  if (outcome === "go-on") return undefined;
  const { etag, modified } = state;
  return new Response(null, {
    status: 304,
    headers: stateHeaders(etag, modified),
  });
}

/** Whether `Range` applies: `If-Range` is absent, or matches the current state by tag or date. */
export function rangesCount(
  headers: HeadersLike,
  { etag, modified }: Validators,
): boolean {
  const condition = headers.get("if-range");
  if (condition === null) return true;
  // A weak tag does not guarantee identical bytes; a date counts as doing so (RFC 9110, 13.1.5).
  if (condition.startsWith('"')) return condition.trim() === etag;
  return secondsOf(condition) === modified;
}

/** Whether a list of tags contains a tag or is `*`. */
function isListed(list: string, etag: string, isStrong: boolean): boolean {
  if (list.trim() === "*") return true;
  for (const [, weak, tag] of list.matchAll(/(W\/)?("[^"]*")/g)) {
    if (tag === etag && !(isStrong && weak !== undefined)) return true;
  }
  return false;
}

/** Parses an HTTP date to seconds; `undefined` if invalid. */
function secondsOf(date: string | null): number | undefined {
  if (date === null) return undefined;
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}
