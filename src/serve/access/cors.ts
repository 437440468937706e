import { RecordfsError } from "../../base/errors.ts";
import type { RequestLike } from "../request_like.ts";
import type { Gate } from "./gate.ts";

/** Request headers that cross-origin programs may send, and response headers that they may read. */
const ASKED = "authorization, if-match, if-none-match, if-range, range";
const TOLD =
  "accept-ranges, content-length, content-range, etag, last-modified";

/** How long browsers may cache a preflight response, in seconds. */
const REMEMBERED = "600";

/** Normalizes an origin to the browsers' form. Throws code `bad-option` if it is not an origin. */
export function originOf(given: string): string {
  const url = URL.parse(given);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) &&
    url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new RecordfsError(
    "bad-option",
    `'${given}' is not an origin such as https://example.org`,
  );
}

/** Returns the response to a CORS preflight request of an allowed origin; `undefined` for every other request. */
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

/** Lets a page of an allowed origin read a response. */
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
