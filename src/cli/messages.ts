import { messageText } from "../message_text.ts";
import { inFlags } from "./flag_words.ts";

const encoder = new TextEncoder();

/**
 * Writes `recordfs: message` to standard error, in the command line's words, on one line and of bounded
 * length whatever the message holds.
 */
export function report(message: string): void {
  const line = `recordfs: ${messageText(inFlags(message))}\n`;
  let rest = encoder.encode(line);
  try {
    while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
  } catch {
    // Nobody reads it any more, and there is nowhere else to say so.
  }
}

/** Reports something odd that does not stop the command. */
export function warn(message: string): void {
  report(`warning: ${message}`);
}
