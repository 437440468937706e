import type { RemoteObserver } from "../../io/remote/client.ts";
import type { Progress } from "./progress.ts";

/** Delay in milliseconds before anything is shown. */
const AFTER = 1000;

/** Progress of opening a container on the terminal. Shows the bytes fetched of a remote index, which may be large. */
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

  update(bytes: number): void {
    const isFirst = this.#bytes === 0;
    this.#bytes = bytes;
    if (this.#bar === undefined) return;
    if (isFirst) this.#draw();
    else this.#bar.update(bytes);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#bar?.[Symbol.dispose]();
    this.#bar = undefined;
  }

  async #show(): Promise<void> {
    ({ Progress: this.#Progress } = await import("./progress.ts")); // imported lazily: few commands take this long
    if (!this.#isOver) this.#draw();
  }

  /** Draws a new bar. Without fetched bytes, the container is local so far. */
  #draw(): void {
    this.#bar?.[Symbol.dispose]();
    const label = this.#bytes === 0 ? "opening" : "fetching the index";
    this.#bar = new this.#Progress!(label, "bytes");
    this.#bar.update(this.#bytes);
  }
}
