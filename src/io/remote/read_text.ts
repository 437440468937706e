import type { StallWatch } from "./stall_watch.ts";

/** Characters of the list of a directory at most: those of a million names. */
const LONGEST = 256 << 20;

/** Reads the body of an answer that lists a directory; what is longer is cut. */
export async function readText(
  { body }: Response,
  watch: StallWatch,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    watch.add(chunk.length);
    if (text.length > LONGEST) break;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
