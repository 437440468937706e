import { messageText } from "../message_text.ts";

const encoder = new TextEncoder();

/** Writes `recordfs: message` to standard error, on one line and of bounded length whatever the message holds. */
export function report(message: string): void {
  const line = `recordfs: ${messageText(message)}\n`;
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
