import { asServeError, SAFE } from "../responses.ts";
import type { Pieces } from "../streams.ts";
import type { Served } from "../served.ts";
import type { ErrorMessage } from "./messages.ts";

/** Streams JSON lines; an error becomes the last one. `onEnd` is called at the end in any case. */
export function lines<Line>(
  { streams }: Served,
  make: Pieces<Line | ErrorMessage>,
  onEnd?: () => void,
): Response {
  const body = streams.ofText(async function* (signal) {
    try {
      for await (const line of make(signal)) yield `${JSON.stringify(line)}\n`;
    } catch (error) {
      if (signal.aborted) throw error;
      const { code, message } = asServeError(error);
      yield `${JSON.stringify({ error: { code, message } })}\n`;
    }
  }, { onEnd });
  return new Response(body, {
    headers: [
      ["content-type", "application/x-ndjson"],
      ["cache-control", "no-store"],
      ...SAFE,
    ],
  });
}

/** Returns a function that is `true` at most once in an interval. */
export function everyFew(milliseconds: number): () => boolean {
  let last = performance.now();
  return () => {
    const now = performance.now();
    if (now - last < milliseconds) return false;
    last = now;
    return true;
  };
}
