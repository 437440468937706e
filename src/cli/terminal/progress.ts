import type { SingleBar } from "cli-progress";
import process from "node:process";
import type { SampleUnit } from "../../tree/format.ts";
import { progressLine } from "../messages.ts";
import { formatBytes, formatDuration } from "./amounts.ts";

// Loading takes a tenth of the time of a short command, and is useless without a terminal.
const cliProgress = Deno.stderr.isTerminal()
  ? (await import("cli-progress")).default
  : undefined;

export type ProgressUnit = SampleUnit | "bytes";

const BAR = "{label} {bar} {percentage}%  {rate}  {left}";
/** Format if the total is unknown. */
const COUNTER = "{label} {amount}  {rate}";

/** Widths of the bar: normal, and next to longer text, so that 80 columns suffice. */
const WIDE = 40;
const NARROW = 16;

/** Minimum time between redraws, in milliseconds: updates come a million times. */
const REDRAW = 50;

/**
 * Progress bar with rate and remaining time on standard error, if that is a terminal. Messages and results are printed
 * above it.
 */
export class Progress implements Disposable {
  readonly #label: string;
  unit: ProgressUnit;
  readonly #total: number | undefined;
  readonly #rate = new Rate();
  #bar: SingleBar | undefined;
  #drawn = -Infinity;

  /** @param total Final value of `update`, if known in advance. */
  constructor(label: string, unit: ProgressUnit, total?: number) {
    this.#label = label;
    this.unit = unit;
    this.#total = total;
    if (total !== undefined) this.update(0);
  }

  /** Whether bars are visible, so that it is worth determining a total. */
  static get shown(): boolean {
    return cliProgress !== undefined;
  }

  /** Updates the bar. `pace` is shown in place of the rate. */
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
      // Ctrl-C must leave the terminal intact.
      hideCursor: false,
      linewrap: true,
      barsize: this.unit === "bytes" || this.unit === "files" ? WIDE : NARROW,
    });
    this.#bar.start(total ?? 1, value, facts);
    progressLine.isDrawn = true;
  }

  [Symbol.dispose](): void {
    if (this.#bar === undefined) return;
    // End in the current line: a message or result may be where the bar started.
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

/** Minimum distance of sampled points, in milliseconds. */
const SPACING = 250;
/** Time window of the rate in milliseconds: it follows a disk that slows down, but does not jump. */
const WINDOW = 15_000;

/** Estimates the current rate of progress. */
export class Rate {
  readonly #now: () => number;
  /** Sampled points within the window, oldest first. */
  readonly #points: { time: number; done: number }[];

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#points = [{ time: now(), done: 0 }];
  }

  note(done: number): void {
    const time = this.#now();
    const points = this.#points;
    const before = points.at(-2);
    // Replace the newest point until it is far enough from the one before.
    if (before !== undefined && time - before.time < SPACING) points.pop();
    points.push({ time, done });
    while (points.length > 2 && time - points[1]!.time > WINDOW) points.shift();
  }

  /** Amount per second within the window. */
  get perSecond(): number {
    const first = this.#points[0]!;
    const last = this.#points.at(-1)!;
    const seconds = (last.time - first.time) / 1000;
    return seconds > 0 ? (last.done - first.done) / seconds : 0;
  }
}
