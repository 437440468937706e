import cliProgress from "cli-progress";
import process from "node:process";
import { formatBytes, formatDuration, Rate } from "./rate.ts";

/** What a progress bar counts. */
export type ProgressUnit =
  | "bytes"
  | "datapoints"
  | "files"
  | "samples"
  | "videos";

const BAR = "{label} {bar} {percentage}%  {rate}  {left}";
/** Where nobody knows how much there is. */
const COUNTER = "{label} {amount}  {rate}";

/** Width of the bar, and where more is said beside it: 80 columns have to do. */
const WIDE = 40;
const NARROW = 16;

/** No line is drawn sooner after the one before, in milliseconds: progress comes a million times. */
const REDRAW = 50;

/**
 * How far a command is, how fast, and how long it still takes, on standard error where that is a
 * terminal; nothing anywhere else.
 */
export class Progress implements Disposable {
  readonly #label: string;
  readonly #unit: ProgressUnit;
  readonly #total: number | undefined;
  readonly #rate = new Rate();
  #bar: cliProgress.SingleBar | undefined;
  #drawn = -Infinity;

  /** @param total What `update` will be called with at the end, where that is known. */
  constructor(label: string, unit: ProgressUnit, total: number | undefined) {
    this.#label = label;
    this.#unit = unit;
    this.#total = total;
    if (!Progress.shown) return;
    this.#bar = new cliProgress.SingleBar({
      format: total === undefined ? COUNTER : BAR,
      stream: process.stderr,
      clearOnComplete: true,
      // Ctrl-C must leave a terminal as it was.
      hideCursor: false,
      linewrap: true,
      barsize: unit === "bytes" || unit === "files" ? WIDE : NARROW,
    });
    this.#bar.start(total ?? 1, 0, this.#facts(0));
  }

  /** Whether there is anybody to see it, so that a total is worth counting. */
  static get shown(): boolean {
    return Deno.stderr.isTerminal();
  }

  /**
   * Shows how far it is.
   *
   * @param pace What is said in place of how many are done in a second.
   */
  update(done: number, pace?: string): void {
    if (this.#bar === undefined) return;
    const now = performance.now();
    if (now - this.#drawn < REDRAW && done !== this.#total) return;
    this.#drawn = now;
    this.#rate.note(done);
    const value = this.#total === undefined ? 0 : done;
    const facts = this.#facts(done);
    this.#bar.update(
      value,
      pace === undefined ? facts : { ...facts, rate: pace },
    );
  }

  /** Clears the bar's line, so that something else can be printed; the bar comes back below it. */
  makeWay(): void {
    if (this.#bar !== undefined) {
      Deno.stderr.writeSync(new TextEncoder().encode("\r\x1b[K"));
    }
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #facts(done: number): Record<string, string> {
    const rate = this.#rate.perSecond;
    const rest = (this.#total ?? 0) - done;
    return {
      label: this.#label,
      amount: this.#amount(done),
      rate: rate > 0 ? `${this.#amount(rate)}/s` : "",
      left: rate > 0 ? `${formatDuration(rest / rate)} left` : "",
    };
  }

  #amount(count: number): string {
    return this.#unit === "bytes"
      ? formatBytes(count)
      : `${Math.round(count)} ${this.#unit}`;
  }
}
