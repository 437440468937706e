import { messageText } from "../base/message_text.ts";
import { inFlags } from "./flag_words.ts";

const encoder = new TextEncoder();

/**
 * Writes `recordfs: message` to standard error, in the command line's words, on one line and of bounded
 * length whatever the message holds.
 */
export function report(message: string): void {
  makeWay();
  writeError(`recordfs: ${messageText(inFlags(message))}\n`);
}

/** Reports something odd that does not stop the command. */
export function warn(message: string): void {
  report(`warning: ${message}`);
}

/** Progress on the terminal, which is drawn in the line that messages come to stand in. */
export const progressLine = { isDrawn: false };

/** Clears the line of a progress bar, so that something else can be printed; the bar comes back below it. */
export function makeWay(): void {
  if (progressLine.isDrawn) writeError("\r\x1b[K");
}

function writeError(text: string): void {
  let rest = encoder.encode(text);
  try {
    while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
  } catch {
    // Nobody reads it any more, and there is nowhere else to say so.
  }
}

/** How many lines of one kind are shown: a damaged container can have millions. */
export const SHOWN = 10;

const open = new Set<Flood>();

/** Lines of one kind, of which only the first are shown, and the others counted. */
export class Flood {
  readonly #show: (line: string) => void;
  readonly #most: number;
  readonly #hint: string;
  #count = 0;
  #hidden = 0;

  /**
   * @param show Shows a line.
   * @param options `all` is set by `--all`.
   * @param hint Where the others are.
   */
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

  /** Shows a line, or counts it. */
  add(line: string): void {
    if (this.#count++ < this.#most) this.#show(line);
    else this.#hidden++;
  }

  /** Says how many were not shown, if any. */
  end(): void {
    if (this.#hidden === 0) return;
    this.#show(`… and ${this.#hidden} more (${this.#hint})`);
    this.#hidden = 0;
  }
}

/** Ends all floods, when a command has. */
export function endFloods(): void {
  for (const flood of open) flood.end();
}

/**
 * Shows the first lines only, and says so at once: for what may go on for days.
 *
 * @param hint Where the others are.
 */
export function firstOnly(
  show: (line: string) => void,
  hint: string,
): (line: string) => void {
  let count = 0;
  return (line) => {
    if (++count <= SHOWN) show(line);
    else if (count === SHOWN + 1) {
      show(`and more, which are not shown; ${hint}`);
    }
  };
}
