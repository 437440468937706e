import type { FormatError } from "../../base/errors.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { lines } from "./lines.ts";
import type { CheckLine } from "./messages.ts";
import type { SharedCounts } from "../threads/shared_counts.ts";
import type { ServedSource } from "../options.ts";

/** Interval of progress messages, in milliseconds. */
const TELL_EVERY = 200;
/** Maximum number of damages reported; all are counted. */
const MOST_TOLD = 10_000;

/** `api/check`: verifies the checksums of all containers. One check runs at a time. */
export class Checking {
  readonly #served: Served;
  readonly #sources: readonly ServedSource[];
  readonly #counts: SharedCounts;

  constructor(
    served: Served,
    sources: readonly ServedSource[],
    counts: SharedCounts,
  ) {
    this.#counts = counts;
    this.#served = served;
    this.#sources = sources;
  }

  /** Starts a check, which ends if the client disconnects. Throws if one is running or there is nothing to check. */
  start(): Response {
    if (this.#sources.length === 0) {
      throw new ServeError(
        "not-found",
        "Cannot check the container: the server was started without its sources",
      );
    }
    if (!this.#counts.beginCheck()) {
      throw new ServeError(
        "busy",
        "Cannot check the container: another check is running. Try again when it has ended",
      );
    }
    const end = () => this.#counts.endCheck();
    const check = (signal: AbortSignal) => this.#lines(signal);
    try {
      return lines<CheckLine>(this.#served, check, end);
    } catch (error) {
      end(); // too many requests
      throw error;
    }
  }

  async *#lines(
    signal: AbortSignal,
  ): AsyncGenerator<CheckLine, void, undefined> {
    const report = { samples: 0, bytes: 0, damaged: 0 };
    let compares: "contents" | "structure" = "contents";
    const total = this.#served.fs.info.bytes;
    let told = 0;
    for (const source of this.#sources) {
      const damages: FormatError[] = [];
      let done = 0;
      const running = source.check({
        signal,
        onWarning() {}, // opening has reported them
        onDamage: (damage) => {
          if (told++ < MOST_TOLD) damages.push(damage);
        },
        onProgress: (now) => done = now,
      });
      running.catch(() => {}); // awaited below
      for (let isOver = false; !isOver;) {
        isOver = await Promise.race([running.then(() => true), later()]);
        for (const { code, message, path } of damages.splice(0)) {
          yield { damage: { code, message, file: path ?? null } };
        }
        yield { done: report.bytes + done, total };
      }
      const { samples, bytes, damaged, ...compared } = await running;
      if (compared.compares === "structure") compares = "structure";
      report.samples += samples;
      report.bytes += bytes;
      report.damaged += damaged;
    }
    yield { report: { ...report, compares } };
  }
}

function later(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), TELL_EVERY));
}
