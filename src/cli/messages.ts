import { messageText } from "../base/message_text.ts";
import type { NamedOption } from "../base/named_option.ts";
import { inFlags } from "./flag_words.ts";

const encoder = new TextEncoder();

/**
 * Writes `recordfs: message` to standard error, as one line of bounded length, whatever the message contains. Messages
 * of the library must be given in flags, by `flagMessageOf` or {@linkcode warn}.
 */
export function report(message: string): void {
  makeWay();
  writeError(`recordfs: ${messageText(message)}\n`);
}

/** Reports an oddity that does not stop the command, with flags for the options that the message names. */
export function warn(message: string, options?: readonly NamedOption[]): void {
  report(`warning: ${inFlags(message, options)}`);
}

/** Whether a progress bar is drawn in the line that messages are written to. */
export const progressLine = { isDrawn: false };

/** Clears the line of a progress bar for other output; the bar is redrawn below. */
export function makeWay(): void {
  if (progressLine.isDrawn) writeError("\r\x1b[K");
}

function writeError(text: string): void {
  let rest = encoder.encode(text);
  try {
    while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
  } catch {
    // Standard error is closed; there is nowhere else to report that.
  }
}

/** Number of lines of one kind that are shown: a damaged container can cause millions. */
export const SHOWN = 10;

const open = new Set<RateLimitedLog>();

/** Rate-limited log: shows the first lines of one kind, and counts the others. */
export class RateLimitedLog {
  readonly #show: (line: string) => void;
  readonly #most: number;
  readonly #hint: string;
  #count = 0;
  #hidden = 0;

  /** @param hint How to see the hidden lines. */
  constructor(
    show: (line: string) => void,
    { all }: { readonly all?: boolean | undefined },
    hint = "--all shows them",
  ) {
    this.#show = show;
    this.#hint = hint;
    this.#most = all ? Infinity : SHOWN;
    open.add(this);
  }

  add(line: string): void {
    if (this.#count++ < this.#most) this.#show(line);
    else this.#hidden++;
  }

  /** Reports the number of hidden lines, if any. */
  end(): void {
    if (this.#hidden === 0) return;
    this.#show(`… and ${this.#hidden} more (${this.#hint})`);
    this.#hidden = 0;
  }
}

/** Ends all rate-limited logs at the end of a command. */
export function endFloods(): void {
  for (const flood of open) flood.end();
}

/** Shows the first lines only, and reports the limit when it is reached, for commands that may run for days. */
export function firstOnly(
  show: (line: string) => void,
  hint: string,
): (line: string) => void {
  let count = 0;
  return (line) => {
    if (++count <= SHOWN) show(line);
    else if (count === SHOWN + 1) {
      show(`further messages are not shown; ${hint}`);
    }
  };
}
