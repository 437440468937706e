import type { RemoteObserver } from "../../io/remote/client.ts";
import type { Progress } from "./progress.ts";

/** Nothing is shown of what takes no longer, in milliseconds. */
const AFTER = 1000;

/**
 * Shows on a terminal that a container is being opened, and how much of it has been fetched if it lies on a server: its
 * index may be large.
 */
export class Opening implements Disposable {
  readonly observer: RemoteObserver = {
    asked() {},
    retried() {},
    fetched: (_name, _start, length) => this.update(this.#bytes + length),
  };
  #bytes = 0;
  #bar: Progress | undefined;
  #Progress: typeof Progress | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(isShown: boolean = Deno.stderr.isTerminal()) {
    if (isShown) this.#timer = setTimeout(() => void this.#show(), AFTER);
  }

  /** Notes how many bytes have been fetched. */
  update(bytes: number): void {
    const isFirst = this.#bytes === 0;
    this.#bytes = bytes;
    if (this.#bar === undefined) return;
    if (isFirst) this.#draw();
    else this.#bar.update(bytes);
  }

  /** It is open, or can't be: removes what is shown. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#bar?.[Symbol.dispose]();
    this.#bar = undefined;
  }

  async #show(): Promise<void> {
    ({ Progress: this.#Progress } = await import("./progress.ts")); // few commands take so long
    if (!this.#isOver) this.#draw();
  }

  /** Nothing is fetched of a container on this machine. */
  #draw(): void {
    this.#bar?.[Symbol.dispose]();
    const label = this.#bytes === 0 ? "opening" : "fetching the index";
    this.#bar = new this.#Progress!(label, "bytes");
    this.#bar.update(this.#bytes);
  }
}
