import type { RequestLike } from "./request_like.ts";
import { ServeError } from "./serve_error.ts";

/**
 * Reads the body of a request as text.
 *
 * @param most How many bytes it may have.
 * @param what What has that body, for the message.
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
