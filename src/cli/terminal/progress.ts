import type { SingleBar } from "cli-progress";
import process from "node:process";
import type { SampleUnit } from "../../tree/format.ts";
import { progressLine } from "../messages.ts";
import { formatBytes, formatDuration } from "./amounts.ts";

// To load it takes a tenth of the time of a short command, and mostly there is nobody to see it.
const cliProgress = Deno.stderr.isTerminal()
  ? (await import("cli-progress")).default
  : undefined;

/** What a progress bar counts. */
export type ProgressUnit = SampleUnit | "bytes";

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
 * terminal; nothing anywhere else. Messages and answers make room for themselves above it.
 */
export class Progress implements Disposable {
  readonly #label: string;
  /** What is counted, until then. */
  unit: ProgressUnit;
  readonly #total: number | undefined;
  readonly #rate = new Rate();
  #bar: SingleBar | undefined;
  #drawn = -Infinity;

  /** @param total What `update` will be called with at the end, where that is known before. */
  constructor(label: string, unit: ProgressUnit, total?: number) {
    this.#label = label;
    this.unit = unit;
    this.#total = total;
    if (total !== undefined) this.update(0);
  }

  /** Whether there is anybody to see it, so that a total is worth counting. */
  static get shown(): boolean {
    return cliProgress !== undefined;
  }

  /**
   * Shows how far it is.
   *
   * @param pace What is said in place of how many are done in a second.
   */
  update(done: number, total = this.#total, pace?: string): void {
    if (cliProgress === undefined) return;
    const now = performance.now();
    if (now - this.#drawn < REDRAW && done !== total) return;
    if (done > 0) this.#drawn = now;
    this.#rate.note(done);
    const rate = this.#rate.perSecond;
    const rest = (total ?? 0) - done;
    const value = total === undefined ? 0 : done;
    const facts = {
      label: this.#label,
      amount: done === 0 ? "" : this.#amount(done),
      rate: pace ?? (rate > 0 ? `${this.#amount(rate)}/s` : ""),
      left: rate > 0 ? `${formatDuration(rest / rate)} left` : "",
    };
    if (this.#bar !== undefined) return this.#bar.update(value, facts);
    this.#bar = new cliProgress.SingleBar({
      format: total === undefined ? COUNTER : BAR,
      stream: process.stderr,
      clearOnComplete: true,
      // Ctrl-C must leave a terminal as it was.
      hideCursor: false,
      linewrap: true,
      barsize: this.unit === "bytes" || this.unit === "files" ? WIDE : NARROW,
    });
    this.#bar.start(total ?? 1, value, facts);
    progressLine.isDrawn = true;
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    if (this.#bar === undefined) return;
    // It ends in the line where the cursor is now: where it began, a message or the answer may stand.
    process.stderr.write("\r\x1b7");
    this.#bar.stop();
    this.#bar = undefined;
    progressLine.isDrawn = false;
  }

  #amount(count: number): string {
    return this.unit === "bytes"
      ? formatBytes(count)
      : `${Math.round(count)} ${this.unit}`;
  }
}

/** Points are kept this far apart, in milliseconds. */
const SPACING = 250;
/** A rate is taken over this long, so that it follows a disk that slows down and does not jump. */
const WINDOW = 15_000;

/** How fast work goes on, from how much of it was done when. */
export class Rate {
  readonly #now: () => number;
  /** The first is the oldest that still counts, the last the newest. */
  readonly #points: { time: number; done: number }[];

  /** @param now A clock in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#points = [{ time: now(), done: 0 }];
  }

  /** Notes how much is done by now. */
  note(done: number): void {
    const time = this.#now();
    const points = this.#points;
    const before = points.at(-2);
    // The newest point moves on until it is far enough from the one before it.
    if (before !== undefined && time - before.time < SPACING) points.pop();
    points.push({ time, done });
    while (points.length > 2 && time - points[1]!.time > WINDOW) points.shift();
  }

  /** How much is done in a second, of late. */
  get perSecond(): number {
    const first = this.#points[0]!;
    const last = this.#points.at(-1)!;
    const seconds = (last.time - first.time) / 1000;
    return seconds > 0 ? (last.done - first.done) / seconds : 0;
  }
}
