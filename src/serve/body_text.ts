import type { RequestLike } from "./request_like.ts";
import { ServeError } from "./serve_error.ts";

/** Reads a request body of up to `most` bytes as text; throws if it is longer. `what` names it in the message. */
export async function bodyText(
  { body }: RequestLike,
  most: number,
  what: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.length;
    if (bytes > most) {
      throw new ServeError(
        "too-large",
        `The body of ${what} may have at most ${most} bytes`,
      );
    }
  }
  return text + decoder.decode();
}
