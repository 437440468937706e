import { RecordfsError } from "../../base/errors.ts";
import type { RequestLike } from "../request_like.ts";
import type { Gate } from "./gate.ts";

/** Headers that programs of other sites may send, and read. */
const ASKED = "authorization, if-match, if-none-match, if-range, range";
const TOLD =
  "accept-ranges, content-length, content-range, etag, last-modified";

/** How long browsers may remember what another site may do, in seconds. */
const REMEMBERED = "600";

/**
 * An origin as browsers send it, of one that was given.
 *
 * @throws {RecordfsError} With code `bad-option` if it is none: no page would ever be of it.
 */
export function originOf(given: string): string {
  const url = URL.parse(given);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) &&
    url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new RecordfsError(
    "bad-option",
    `'${given}' is no origin of pages, such as https://example.org`,
  );
}

/** Answers a browser that asks whether a page of another site may ask; `undefined` for every other request. */
export function preflight(
  { origins }: Gate,
  { method, headers }: RequestLike,
): Response | undefined {
  const origin = headers.get("origin");
  if (
    method !== "OPTIONS" || origin === null || !origins.has(origin) ||
    !headers.has("access-control-request-method")
  ) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": ASKED,
      "access-control-max-age": REMEMBERED,
      "vary": "origin",
    },
  });
}

/** Lets a page of an allowed site read an answer. */
export function allowOrigin(
  { origins }: Gate,
  { headers }: RequestLike,
  response: Response,
): Response {
  const origin = headers.get("origin");
  response.headers.append("vary", "origin");
  if (origin === null || !origins.has(origin)) return response;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", TOLD);
  response.headers.set("cross-origin-resource-policy", "cross-origin");
  return response;
}
