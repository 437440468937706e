import type { StallWatch } from "./retry/stall_watch.ts";

/** Most characters of a directory listing: those of a million names. */
const LONGEST = 256 << 20;

/** Reads the body of a directory listing; longer ones are cut. */
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
