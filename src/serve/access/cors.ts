import type { Gate } from "./gate.ts";

/** Headers that programs of other sites may send, and read. */
const ASKED = "authorization, if-match, if-none-match, if-range, range";
const TOLD =
  "accept-ranges, content-length, content-range, etag, last-modified";

/** How long browsers may remember what another site may do, in seconds. */
const REMEMBERED = "600";

/** Answers a browser that asks whether a page of another site may ask; `undefined` for every other request. */
export function preflight(
  { origins }: Gate,
  { method, headers }: Request,
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
  { headers }: Request,
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
