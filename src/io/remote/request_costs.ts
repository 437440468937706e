import type { RemoteObserver } from "./client.ts";

/** Window in milliseconds over which requests are counted; it moves by halves. */
const WINDOW = 2 * 60_000;
/** Warns above this number of requests, if they brought less than this many bytes on average. */
const MANY = 1000;
const TINY = 32 << 10;

/** Shared state, so that a process warns once. */
const SAID = { isSaid: false };

/** Counts fetched ranges, and warns once if there are many tiny ones, because stores charge per request. */
export class RequestCosts {
  readonly #warn: (message: string) => void;
  readonly #now: () => number;
  readonly #said: { isSaid: boolean };
  #half = { requests: 0, bytes: 0 };
  #before = { requests: 0, bytes: 0 };
  #since: number;

  constructor(
    warn: (message: string) => void,
    now: () => number = () => performance.now(),
    said: { isSaid: boolean } = SAID,
  ) {
    this.#warn = warn;
    this.#now = now;
    this.#said = said;
    this.#since = now();
  }

  fetched(name: string, bytes: number): void {
    if (this.#said.isSaid) return;
    this.#forget();
    this.#half.requests++;
    this.#half.bytes += bytes;
    const requests = this.#half.requests + this.#before.requests;
    const each = (this.#half.bytes + this.#before.bytes) / requests;
    if (requests <= MANY || each >= TINY) return;
    this.#said.isSaid = true;
    this.#warn(
      `${name} is read in many tiny requests: ${requests} of ${
        (each / 1000).toFixed(1)
      } kB on average within ${
        WINDOW / 60_000
      } minutes, and stores charge for each. ` +
        "Fetch all of it first, in large ones (`recordfs cache fill URL`), or read it in stored order " +
        "(as BlockShuffleSampler does)",
    );
  }

  #forget(): void {
    const halves = Math.floor((this.#now() - this.#since) / (WINDOW / 2));
    if (halves === 0) return;
    const none = { requests: 0, bytes: 0 };
    this.#before = halves === 1 ? this.#half : none;
    this.#half = { ...none };
    this.#since += halves * WINDOW / 2;
  }
}

/** Wraps an observer to also count request costs. */
export function observingCosts(
  observer: RemoteObserver | undefined,
  warn: (message: string) => void,
): RemoteObserver {
  const costs = new RequestCosts(warn);
  return {
    asked: () => observer?.asked(),
    retried: () => observer?.retried(),
    fetched(name, start, length, ms) {
      costs.fetched(name, length);
      observer?.fetched(name, start, length, ms);
    },
  };
}
