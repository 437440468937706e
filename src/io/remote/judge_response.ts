import { RemoteError } from "./remote_error.ts";
import type { Target } from "./target.ts";
import { Transient } from "./retry/transient.ts";

/** Bytes of an error's body that are inspected. */
const LOOK = 4096;

/**
 * Judges a response other than 200, 206 and 304. Returns it if the caller can use it: 404, 412 and 416. Throws a
 * {@linkcode RemoteError} for a refusal, and a {@linkcode Transient} if another attempt may succeed.
 */
export async function judged(
  target: Target,
  response: Response,
): Promise<Response> {
  const { status } = response;
  if (status === 404 || status === 412 || status === 416) return response;
  if (status < 400) {
    await response.body?.cancel();
    throw new RemoteError(
      "redirect-loop",
      `Cannot read ${target.name}: its server redirects in a circle, or to a URL that is not allowed (HTTP ${status}). ` +
        "Open the URL in a browser",
      { path: target.name, status },
    );
  }
  const text = await beginning(response);
  const what = `HTTP ${status}${text}`;
  const isRefused = status === 401 || status === 403 ||
    // S3's codes for expired credentials.
    status === 400 && /^ (Expired|Invalid)Token/.test(text);
  if (isRefused) {
    throw new RemoteError(
      "access-denied",
      `Cannot read ${target.name}: access denied (${what}). ${target.advice}`,
      { path: target.name, status, namedOptions: target.namedOptions },
    );
  }
  const isSlowDown = status === 408 || status === 425 || status === 429;
  if (isSlowDown || status >= 500 && status !== 501 && status !== 505) {
    throw new Transient(`the server answered ${what}`, {
      status,
      after: retryAfter(response.headers.get("retry-after")),
    });
  }
  throw badResponse(target.name, status, text);
}

function badResponse(name: string, status: number, text: string): RemoteError {
  return new RemoteError(
    "bad-answer",
    `Cannot read ${name}: the server answered HTTP ${status}${text}`,
    { path: name, status },
  );
}

/** Returns the error code of a bucket's server, from XML: `<Code>NoSuchBucket</Code>`. */
async function beginning(response: Response): Promise<string> {
  let text = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > LOOK) break;
    }
  } catch {
    // The status is enough.
  }
  const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1];
  return code === undefined ? "" : ` ${code}`;
}

/** Returns the milliseconds of a `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const wait = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
