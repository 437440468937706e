import cliProgress from "cli-progress";
import process from "node:process";

/** What a progress bar counts. */
export type ProgressUnit = "bytes" | "files";

/** A progress bar on standard error, where that is a terminal; nothing anywhere else. */
export class Progress implements Disposable {
  readonly #unit: ProgressUnit;
  readonly #start = performance.now();
  #bar: cliProgress.SingleBar | undefined;

  /** @param total What `update` will be called with at the end. */
  constructor(label: string, unit: ProgressUnit, total: number) {
    this.#unit = unit;
    if (!Deno.stderr.isTerminal()) return;
    this.#bar = new cliProgress.SingleBar({
      format: `${label} {bar} {percentage}%  {rate}  {eta_formatted} left`,
      stream: process.stderr,
      clearOnComplete: true,
      // Ctrl-C must leave a terminal as it was.
      hideCursor: false,
      linewrap: true,
      etaBuffer: 50,
    });
    this.#bar.start(total, 0, { rate: "" });
  }

  /** Shows how far it is. */
  update(done: number): void {
    if (this.#bar === undefined) return;
    const seconds = (performance.now() - this.#start) / 1000;
    this.#bar.update(done, { rate: this.#rate(done / (seconds || 1)) });
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

  #rate(perSecond: number): string {
    return this.#unit === "files"
      ? `${Math.round(perSecond)} files/s`
      : `${(perSecond / 1e6).toFixed(1)} MB/s`;
  }
}
