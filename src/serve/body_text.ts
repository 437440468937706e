import type { RequestLike } from "./request_like.ts";
import { ServeError } from "./serve_error.ts";

/**
 * Reads a request body as text.
 *
 * @param most Maximum bytes.
 * @param what What has the body, for the error message.
 * @throws {ServeError} If it has more bytes.
 */
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
        `The body of ${what} has ${most} bytes at most`,
      );
    }
  }
  return text + decoder.decode();
}
