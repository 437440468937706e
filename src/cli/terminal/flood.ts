import type { Command } from "commander";

/** How many lines of one kind are shown: a damaged container can have millions. */
const SHOWN = 10;

/** Option of every command that prints a line for each finding. */
export interface FloodOptions {
  /** Set by `--all`. */
  readonly all?: true | undefined;
}

/** Adds `--all`. */
export function withAllOption(command: Command): Command {
  return command.option(
    "--all",
    `show every warning and fault, not only the first ${SHOWN}`,
  );
}

const open = new Set<Flood>();

/** Lines of one kind, of which only the first are shown, and the others counted. */
export class Flood {
  readonly #show: (line: string) => void;
  readonly #most: number;
  #count = 0;
  #hidden = 0;

  /** @param show Shows a line. */
  constructor(show: (line: string) => void, { all }: FloodOptions) {
    this.#show = show;
    this.#most = all === true ? Infinity : SHOWN;
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
    this.#show(`… and ${this.#hidden} more (--all shows them)`);
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
